"""Answers in which a model names itself or its maker: they could tell a reader who speaks. Pure functions."""

import re
from collections.abc import Callable, Iterable
from hashlib import sha256

# Names that stand for a model or its maker wherever they turn up in an answer about a photograph.
PLAIN = (
    "chatgpt",
    "openai",
    "anthropic",
    "deepmind",
    "qwen",
    "tongyi",
    "internvl",
    "internlm",
    "llava",
    "deepseek",
    "mistral ai",
)
# Names that a photograph can hold too: they count where the answer speaks of itself.
AMBIGUOUS = ("gpt", "gemini", "bard", "google", "claude", "meta", "llama", "alibaba", "shanghai ai lab", "microsoft")
_BY = r"(?:made|built|trained|created|developed|provided) by"
_SELF = rf"(?:\b(?:i am|i'm|i’m|as|my name is|call me|{_BY})\s+(?:an? |the )?)"
_PLAIN = re.compile(rf"\b(?:{'|'.join(map(re.escape, PLAIN))})\b|\bgpt-?\d", re.IGNORECASE)
_AMBIGUOUS = re.compile(rf"{_SELF}(?:{'|'.join(map(re.escape, AMBIGUOUS))})\b", re.IGNORECASE)
# Which names and patterns these are: a draw that passed over answers can be repeated under the same ones only.
VERSION = sha256("\n".join((_PLAIN.pattern, _AMBIGUOUS.pattern)).encode()).hexdigest()[:12]
# Every answer that `named` finds something in holds one of these, in capitals or not: for a first look in a database.
STEMS = tuple(sorted({*PLAIN, *AMBIGUOUS}))
_SHORTEST = tuple(stem for stem in STEMS if not any(other in stem for other in STEMS if other != stem))


def named(text: str, own: Iterable[str] = ()) -> list[str]:
    """The words in which an answer names a model or a maker, in order; empty where it does not.

    `own` are further names of the model that answered, such as its id. Google's sign in a photograph is no
    self-naming; "I am Gemini" and "trained by Google" are.
    """
    return finder(own)(text)


def finder(own: Iterable[str] = ()) -> Callable[[str], list[str]]:
    """`named` for many answers of one model: hundreds of thousands are looked at before a draw."""
    names = {name.lower(): name for name in own if len(name) > 3}
    stems = (*_SHORTEST, *names)

    def find(text: str) -> list[str]:
        lowered = text.lower()
        for stem in stems:
            if stem in lowered:
                break
        else:
            return []  # few answers get as far as the patterns
        found = [match.group() for pattern in (_PLAIN, _AMBIGUOUS) for match in pattern.finditer(text)]
        return found + [name for lower, name in names.items() if lower in lowered and name not in found]

    return find
