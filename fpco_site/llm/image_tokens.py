"""How many input tokens a picture counts as, by the rules that providers publish. Pure; sizes in pixels.

Rules change and the billed count is what a reply says; these serve estimates alone, so each gives a range.
Sources: OpenAI "Images and vision, calculating costs"; Gemini "Understand and count tokens" and "Media
resolution"; Alibaba Model Studio "Visual understanding"; model cards of Qwen-VL, InternVL and LLaVA.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, sqrt

type Size = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """`tokens` gives (low, high) for (width, height); the two are the same where the rule is exact."""

    words: str
    tokens: Callable[[int, int], tuple[int, int]]


def tiles(width: int, height: int, *, base: int, tile: int) -> int:
    """OpenAI's tiles: fit into 2048 x 2048, then the shorter side to 768 at most; squares of 512 and a base.

    >>> tiles(1024, 1024, base=85, tile=170), tiles(2048, 4096, base=85, tile=170)
    (765, 1105)
    """
    shrink = min(1, 2048 / max(width, height))
    shrink *= min(1, 768 / (min(width, height) * shrink))
    across, down = (ceil(round(side * shrink, 6) / 512) for side in (width, height))
    return base + tile * across * down


def patches(width: int, height: int, *, most: int = 1536, side: int = 32) -> int:
    """OpenAI's patches of 32 x 32, shrunk to `most` where there are more.

    >>> patches(1024, 1024), patches(1800, 2400)
    (1024, 1452)
    """
    if ceil(width / side) * ceil(height / side) <= most:
        return ceil(width / side) * ceil(height / side)
    shrink = sqrt(most * side * side / (width * height))
    across, down = width * shrink / side, height * shrink / side
    shrink *= min(max(1, floor(across)) / across, max(1, floor(down)) / down)
    return ceil(round(width * shrink / side, 6)) * ceil(round(height * shrink / side, 6))


def gemini_tiles(width: int, height: int) -> int:
    """258 for a picture of up to 384 x 384; else 258 for each tile of 768 x 768.

    >>> gemini_tiles(384, 384), gemini_tiles(640, 480), gemini_tiles(1024, 768)
    (258, 258, 516)
    """
    return 258 * (1 if max(width, height) <= 384 else ceil(width / 768) * ceil(height / 768))


def qwen_patches(width: int, height: int, *, side: int, most: int) -> int:
    """One token for each square of `side` pixels, shrunk to `most`, and two that mark begin and end.

    >>> qwen_patches(640, 480, side=28, most=1280)
    393
    """
    across, down = max(2, round(width / side)), max(2, round(height / side))
    if across * down > most:
        shrink = sqrt(most * side * side / (width * height))
        across, down = max(1, floor(width * shrink / side)), max(1, floor(height * shrink / side))
    return across * down + 2


def rule(provider: str, model_id: str) -> Rule:
    """The rule for a model; a wide range that says so where none is known."""
    name = model_id.lower().rpartition("/")[2]
    if provider in ("scripted", "rules", "drafter"):
        return Rule("an offline model reads no picture", _exact(lambda width, height: 0))
    if provider == "openai" or name.startswith(("gpt-", "o1", "o3", "o4")):
        return _openai(name)
    if provider == "gemini" or name.startswith("gemini"):
        return _gemini(name)
    for part, make in _OPEN:
        if part in name:
            return make
    return Rule("no rule is known for this model: 250 to 3,000 tokens are assumed", lambda width, height: (250, 3000))


def _exact(count: Callable[[int, int], int]) -> Callable[[int, int], tuple[int, int]]:
    return lambda width, height: (count(width, height),) * 2


def _scaled(low: float, high: float, most: int) -> Callable[[int, int], tuple[int, int]]:
    return lambda width, height: (
        ceil(patches(width, height) * low),
        ceil(patches(width, height, most=most) * high),
    )


def _openai(name: str) -> Rule:
    for prefix, low, high in _PATCHES:
        if name.startswith(prefix):
            return Rule(f"patches of 32 pixels, {low} to {high} tokens each", _scaled(low, high, 1536))
    for prefix, base, tile in _TILES:
        if name.startswith(prefix) and not name.startswith("gpt-5."):
            count = partial(tiles, base=base, tile=tile)
            return Rule(f"{base} and {tile} for each tile of 512 pixels", _exact(count))
    return Rule("patches of 32 pixels, 1 to 1.62 tokens each, at most 2,500", _scaled(1, 1.62, 2500))


def _gemini(name: str) -> Rule:
    if name.startswith(("gemini-1", "gemini-2")):
        return Rule("258 for each tile of 768 pixels", _exact(gemini_tiles))
    return Rule("1,120 a picture at the default resolution", _exact(lambda width, height: 1120))


# Published multipliers and those that people measured differ for some; both ends are kept.
_PATCHES = (
    ("gpt-4.1-mini", 1.62, 1.62),
    ("gpt-4.1-nano", 2.46, 2.46),
    ("o4-mini", 1.72, 1.72),
    ("gpt-5-mini", 1.2, 1.62),
    ("gpt-5-nano", 1.5, 2.46),
)
_TILES = (
    ("gpt-4o-mini", 2833, 5667),
    ("gpt-4", 85, 170),
    ("gpt-5", 70, 140),
    ("o1", 75, 150),
    ("o3", 75, 150),
)
_QWEN_28 = Rule(
    "one token for each 28 x 28 pixels",
    _exact(lambda width, height: qwen_patches(width, height, side=28, most=1280)),
)
_QWEN_32 = Rule(
    "one token for each 32 x 32 pixels (older ones: 28 x 28)",
    lambda width, height: (
        qwen_patches(width, height, side=32, most=2560),
        qwen_patches(width, height, side=28, most=2560),
    ),
)
_OPEN = (
    ("qwen2", _QWEN_28),
    ("qwen-vl", _QWEN_32),
    ("qwen", _QWEN_32),
    ("internvl", Rule("256 for each of 1 to 13 tiles of 448 pixels", lambda width, height: (256, 256 * 13))),
    ("llava-1.5", Rule("576 a picture", _exact(lambda width, height: 576))),
    ("llava", Rule("576 to 2,880 a picture (LLaVA-NeXT: up to five crops)", lambda width, height: (576, 2880))),
)
