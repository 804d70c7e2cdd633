"""Whether a run can be read beside the published ones: what of it is as the paper says, what is not, what is unknown.

Source: "FPCO-Dialog", arXiv 2609.03331v1, sections on the dataset, on running models and on detectors. Where the
paper or a release doesn't say, the verdict is *unknown* with the reason, never a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate.axes import CELLS
from annotate.models.protocols import STUDY
from benchmark.frames import Masks
from benchmark.models import Detector, Run
from benchmark.models.runs import endpoint_of
from fpco_site.errors import FpcoError
from fpco_site.llm import settings_rules
from fpco_site.llm.models import FIRST_SAVED
from fpco_site.llm.types import Endpoint

MATCHES, DIFFERS, UNKNOWN = "matches", "differs", "unknown"
ASPECTS = ("protocol", "prompts", "settings", "detectors")
INTERFACES = ("gemini", "openai", "openai_compatible", "transformers")
# The paper's detectors by the names of its columns: interface and model.
DETECTORS = {"gpt": ("openai", "gpt-5.4"), "gemini": ("gemini", "gemini-3.1-pro-preview")}
IMPORTED = "imported"
GEMINI_DETECTOR = {"temperature": 0.0, "top_p": 1.0, "max_output_tokens": 8192}
UNSET = ("body.top_k", "body.seed")  # what the paper says it does not set
_MARKS = {MATCHES: "✓", DIFFERS: "≠", UNKNOWN: "?"}


@dataclass(frozen=True)
class Aspect:
    """One thing that is compared, with a reason that a reader can check."""

    name: str
    verdict: str
    why: str

    @property
    def mark(self) -> str:
        return _MARKS[self.verdict]


@dataclass(frozen=True)
class Comparison:
    """All aspects of a run; it matches where each of them does."""

    aspects: tuple[Aspect, ...]

    @property
    def verdict(self) -> str:
        return worst([aspect.verdict for aspect in self.aspects])


PUBLISHED = Comparison(tuple(Aspect(name, MATCHES, "This row is the paper's own.") for name in ASPECTS))


def worst(verdicts: Sequence[str]) -> str:
    """`differs` if anything does, else `unknown` if anything is, else `matches`."""
    return next((verdict for verdict in (DIFFERS, UNKNOWN) if verdict in verdicts), MATCHES)


def compare(run: Run, *, protocol: Aspect, detectors: Sequence[Detector]) -> Comparison:
    """A run with the detectors that its shown number rests on."""
    return Comparison((protocol, _prompts(run, detectors), _settings(run), _detectors(detectors)))


def protocol_of(found: Masks) -> Aspect:
    """Turns, false turns, and 30 items in each of the 36 cells."""
    if (found.turns, list(found.false_turns)) != (STUDY["turns"], STUDY["false_turns"]):
        return Aspect("protocol", DIFFERS, f"{found.turns} turns with a false premise at {_listed(found.false_turns)}.")
    places = np.stack([found.places[axis] for axis in ("complexity", "category", "premise_class")], axis=1)
    cells, sizes = np.unique(places, axis=0, return_counts=True) if len(found.items) else (places, np.zeros(0))
    if len(cells) == len(CELLS) and (sizes == STUDY["per_cell"]).all():
        return Aspect("protocol", MATCHES, "10 turns, false from turn 4 on, 36 cells of 30 items.")
    held = f"{len(found.items):,} items in {len(cells)} of 36 cells; the paper has 30 in each."
    return Aspect("protocol", DIFFERS, held)


def published_column(detector: Detector) -> str | None:
    """The paper's column of the same detector, by its model: a release may call its detectors anything."""
    model = (detector.provider, detector.model_id.lower())
    return next((name for name, theirs in DETECTORS.items() if theirs == model), None)


def _prompts(run: Run, detectors: Sequence[Detector]) -> Aspect:
    found = [_prompt("models", run), *(_prompt(str(detector), detector) for detector in detectors)]
    why = " ".join(dict.fromkeys(reason for _, reason in found))
    return Aspect("prompts", worst([verdict for verdict, _ in found]), why)


def _prompt(whose: str, row: Run | Detector) -> tuple[str, str]:
    if not row.prompt_sha256:
        return UNKNOWN, f"Prompt of {whose}: not told."
    label = f"Prompt of {whose}: {row.prompt_name}.v{row.prompt_version}"
    if row.prompt_version.isdecimal() and int(row.prompt_version) < FIRST_SAVED:
        return DIFFERS, f"{label}, in words of this software that ask what the paper's prompt asks."
    return UNKNOWN, f"{label}, saved here; the paper's own text is not known to this software."


def _settings(run: Run) -> Aspect:
    endpoint = _endpoint(run.settings)
    if endpoint is None:
        return Aspect("settings", UNKNOWN, "Not told how the model was asked.")
    if endpoint.provider not in INTERFACES:
        return Aspect("settings", DIFFERS, f"{endpoint.provider} is no interface of the paper.")
    wanted = settings_rules.defaults(endpoint.provider, endpoint.model_id)
    wrong = [*_cap_differs(endpoint, wanted.max_output_tokens), *_sampling_differs(endpoint, wanted)]
    sent = settings_rules.sent(endpoint)
    wrong += [f"{name} is set" for name in UNSET if name in sent]
    if wrong:
        return Aspect("settings", DIFFERS, f"{_sentence(wrong)}.")
    more = [name for name in sent if name == "thinking_budget" or name.startswith("body.")]
    if more:
        return Aspect("settings", UNKNOWN, f"Also sends {_listed(more)}, of which the paper doesn't say anything.")
    return Aspect("settings", MATCHES, "As the paper says for this interface.")


def _endpoint(settings: dict[str, Any]) -> Endpoint | None:
    """The endpoint of a run, where its settings are all there: an imported run may tell less, or something else."""
    kinds = {"provider": str, "model_id": str, "max_output_tokens": int, "options": dict}
    if not all(isinstance(settings.get(name), kind) for name, kind in kinds.items()):
        return None
    try:
        endpoint = endpoint_of(settings)
        settings_rules.sent(endpoint)
    except (FpcoError, TypeError, AttributeError):
        return None
    return endpoint


def _cap_differs(endpoint: Endpoint, wanted: int) -> list[str]:
    """The paper gives 256, and at least so many to models that think before they write."""
    cap = settings_rules.cap(endpoint)
    enough = cap is not None and (cap == wanted or (wanted > settings_rules.CAP and cap >= wanted))
    least = "at least " if wanted > settings_rules.CAP else ""
    return [] if enough else [f"cap of {f'{cap:,}' if cap else 'no'} tokens instead of {least}{wanted:,}"]


def _sampling_differs(endpoint: Endpoint, wanted: settings_rules.Settings) -> list[str]:
    asked = Endpoint(provider=endpoint.provider, model_id="", temperature=wanted.temperature, top_p=wanted.top_p)
    here, there = settings_rules.sampling(endpoint), settings_rules.sampling(asked)
    names = [name for name in ("temperature", "top_p") if here.get(name) != there.get(name)]
    return [f"{name} {here.get(name, 'not sent')} instead of {there.get(name, 'not sent')}" for name in names]


def _detectors(detectors: Sequence[Detector]) -> Aspect:
    found = [_detector(detector) for detector in detectors]
    if not found:
        return Aspect("detectors", UNKNOWN, "No detector labelled this.")
    return Aspect("detectors", worst([verdict for verdict, _ in found]), " ".join(reason for _, reason in found))


def _detector(detector: Detector) -> tuple[str, str]:
    if detector.provider == IMPORTED:
        return UNKNOWN, f"{detector}: the release doesn't say which model it is."
    name = published_column(detector)
    if name is None:
        return DIFFERS, f"{detector} ({detector.model_id}) is none of the paper's."
    wrong = [
        f"{setting} {getattr(detector, setting)} instead of {value}"
        for setting, value in (GEMINI_DETECTOR.items() if name == "gemini" else ())
        if getattr(detector, setting) != value
    ]
    return (DIFFERS, f"{detector}: {_sentence(wrong)}.") if wrong else (MATCHES, f"{detector} is the paper's.")


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in values)


def _sentence(parts: Sequence[str]) -> str:
    words = "; ".join(parts)
    return words[:1].upper() + words[1:]
