"""The counts behind the published tables give every printed cell again."""

from itertools import pairwise

import pytest

from benchmark import published
from benchmark.published import DETECTORS, FALSE_PREMISE_TURNS, PREFIX_TURNS, PREMISE_CLASSES

MODELS = [model.name for model in published.models()]
COLUMNS = ("overall", *PREMISE_CLASSES)


def denominator(column):
    return 1080 if column == "overall" else 360


def test_there_are_twenty_models_in_five_families_in_published_order():
    assert len(MODELS) == len(set(MODELS)) == 20
    assert MODELS[0] == "Gemini 2.5 Flash"
    assert MODELS[-1] == "Qwen-VL-Max"
    families = [model.family for model in published.models()]
    assert {name: families.count(name) for name in published.FAMILIES} == {
        "Gemini": 3,
        "GPT": 4,
        "InternVL": 3,
        "LLaVA": 3,
        "Qwen": 7,
    }


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("model", MODELS)
def test_turn_counts_give_every_turn_corr_and_corr_tp_cell(model, detector):
    for column in COLUMNS:
        counts = published.turn_counts(model, detector, column)
        n = denominator(column)
        assert [f"{count / n:.3f}" for count in counts] == [
            published.cell("turn_corr", model, k, f"{column}_{detector}") for k in FALSE_PREMISE_TURNS
        ]
        assert [f"{sum(counts[:turns]) / (n * turns):.3f}" for turns in range(1, 8)] == [
            published.cell("corr_tp", model, k, f"{column}_{detector}") for k in FALSE_PREMISE_TURNS
        ]


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("model", MODELS)
def test_prefix_counts_give_every_corr_fp_cell(model, detector):
    for column in COLUMNS:
        counts = published.prefix_counts(model, detector, column)
        n = denominator(column)
        assert [f"{count / (n * k):.3f}" for k, count in zip(PREFIX_TURNS, counts, strict=True)] == [
            published.cell("corr_fp", model, k, f"{column}_{detector}") for k in PREFIX_TURNS
        ]
        assert all(0 <= later - earlier <= n for earlier, later in pairwise([0, *counts]))


def test_mean_corr_fp_over_models_is_as_the_study_states_it():
    # 20 models x 1,080 items x 2 detectors = 43,200 labels a turn.
    totals = [
        sum(published.prefix_counts(model, detector, "overall")[k - 1] for model in MODELS for detector in DETECTORS)
        for k in PREFIX_TURNS
    ]
    assert [f"{total / (43_200 * k):.4f}" for k, total in zip(PREFIX_TURNS, totals, strict=True)] == [
        "0.0126",
        "0.0110",
        "0.0101",
    ]


def test_an_unknown_table_is_refused_by_name():
    with pytest.raises(ValueError, match="no published table 'kappa'"):
        published.table("kappa")
