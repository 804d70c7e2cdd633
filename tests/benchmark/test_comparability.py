"""What of a run is as the paper says; what nobody told is unknown, never guessed."""

from typing import Any

import numpy as np
import pytest

from benchmark import comparability
from benchmark.comparability import DIFFERS, MATCHES, UNKNOWN, Comparison
from benchmark.frames import Masks
from benchmark.models import Detector, EvaluatedModel, Run
from tests.published_release import made_items

GEMINI = {"provider": "gemini", "model_id": "gemini-2.5-flash", "temperature": 0.0, "top_p": 1.0}
PROMPT = {"prompt_name": "inference", "prompt_version": "101", "prompt_sha256": "a" * 64}
GPT = Detector(slug="strict", name="GPT-5.4", provider="openai", model_id="gpt-5.4", max_output_tokens=8192, **PROMPT)
OTHER = Detector(
    slug="other",
    name="Gemini",
    provider="gemini",
    model_id="gemini-3.1-pro-preview",
    max_output_tokens=8192,
    temperature=0.0,
    top_p=1.0,
    **PROMPT,
)


def masks(**more: Any) -> Masks:
    items = made_items()
    places = {
        axis: np.array([getattr(item, axis) for item in items]) for axis in ("premise_class", "complexity", "category")
    }
    nothing = np.zeros((0, 0, len(items)), dtype=np.int64)
    values = {"turns": 10, "false_turns": tuple(range(4, 11)), "places": places, **more}
    return Masks(
        [], [], list(range(len(items))), images=np.arange(len(items)), labelled=nothing, correction=nothing, **values
    )


def compared(run: Run, *detectors: Detector) -> dict[str, str]:
    found = comparability.compare(run, protocol=comparability.protocol_of(masks()), detectors=detectors or (GPT, OTHER))
    assert all(aspect.why for aspect in found.aspects)
    return {aspect.name: aspect.verdict for aspect in found.aspects}


def run_of(**settings: Any) -> Run:
    return Run(settings=EvaluatedModel(**{**GEMINI, **settings}).settings(), **PROMPT)


def test_a_run_asked_as_the_paper_says_matches_but_for_a_text_that_nobody_knows() -> None:
    assert compared(run_of()) == {
        "protocol": MATCHES,
        "prompts": UNKNOWN,
        "settings": MATCHES,
        "detectors": MATCHES,
    }


def test_the_prompts_that_ship_are_worded_otherwise() -> None:
    run = run_of()
    run.prompt_version = "1"
    assert compared(run)["prompts"] == DIFFERS


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"max_output_tokens": 512}, DIFFERS),
        ({"temperature": 0.7}, DIFFERS),
        ({"top_p": None}, DIFFERS),
        ({"model_id": "gemini-2.5-pro"}, DIFFERS),
        ({"model_id": "gemini-2.5-pro", "max_output_tokens": 4096}, MATCHES),
        ({"options": {"thinking_budget": 0}}, UNKNOWN),
        ({"options": {"body": {"seed": 1}}}, DIFFERS),
        ({"not_sent": {"max_output_tokens": "refused"}}, DIFFERS),
        ({"provider": "openai", "model_id": "gpt-5.4", "max_output_tokens": 512}, MATCHES),
        ({"provider": "openai", "model_id": "gpt-4o", "max_output_tokens": 512}, DIFFERS),
        ({"provider": "openai_compatible", "model_id": "qwen-vl-max", "temperature": 0.5}, DIFFERS),
        ({"provider": "openai_compatible", "model_id": "qwen-vl-max"}, MATCHES),
        ({"provider": "scripted", "model_id": "scripted-skeptic"}, DIFFERS),
    ],
)
def test_settings_are_compared_as_they_are_sent(settings: dict[str, Any], verdict: str) -> None:
    assert compared(run_of(**settings))["settings"] == verdict


def test_an_imported_run_that_tells_nothing_is_unknown() -> None:
    told = compared(Run(settings={}), Detector(slug="gpt", name="gpt", provider="imported", model_id="gpt"))
    assert told == {"protocol": MATCHES, "prompts": UNKNOWN, "settings": UNKNOWN, "detectors": UNKNOWN}
    assert compared(Run(settings={"provider": "gemini", "model_id": 5}))["settings"] == UNKNOWN


def test_detectors_of_another_kind_or_setting_differ() -> None:
    rules = Detector(slug="rules", name="rules", provider="rules", model_id="rules-strict")
    capped = Detector(slug="g", name="g", provider="gemini", model_id="gemini-3.1-pro-preview", max_output_tokens=256)
    assert compared(run_of(), GPT, rules)["detectors"] == DIFFERS
    assert compared(run_of(), capped)["detectors"] == DIFFERS
    assert [comparability.published_column(one) for one in (GPT, OTHER, rules)] == ["gpt", "gemini", None]


def test_another_number_of_turns_or_of_images_is_another_protocol() -> None:
    assert comparability.protocol_of(masks()).verdict == MATCHES
    assert comparability.protocol_of(masks(false_turns=(4, 5))).verdict == DIFFERS
    fewer = {axis: np.array(["x"] * 1080) for axis in ("premise_class", "complexity", "category")}
    assert comparability.protocol_of(masks(places=fewer)).verdict == DIFFERS


def test_what_differs_outweighs_what_is_unknown() -> None:
    assert comparability.worst([MATCHES, UNKNOWN]) == UNKNOWN
    assert comparability.worst([UNKNOWN, DIFFERS]) == DIFFERS
    assert Comparison(comparability.PUBLISHED.aspects).verdict == MATCHES
