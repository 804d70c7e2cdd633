"""Intervals, comparisons and the stratified bootstrap as stored analyses, over labels whose numbers are known."""

from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from django.utils.html import escape

from annotate.models import Dataset, User
from benchmark import frames, leaderboard
from benchmark.analyses import KINDS, digests, stratified
from benchmark.analyses.inputs import CLASSES, Labels
from benchmark.analyses.kinds import Section
from benchmark.models import Analysis, Detector, Response, ResultSet
from benchmark.published import models as published_models
from benchmark.services import analyses, results
from benchmark.statistics.patterns import pack
from benchmark.statistics.rates import Estimate
from fpco_site.errors import Invalid
from tests import factories
from tests.demo_pages import client_of
from tests.published_release import made_items, made_labels

pytestmark = [pytest.mark.django_db, pytest.mark.db]


def late(response: Response) -> bool:
    return response.turn >= 6


def by_class(response: Response) -> bool:
    """Identity is corrected at every turn, attribute late, location never."""
    premise = response.dialogue.item.premise_class
    return premise == "identity" or (premise == "attribute" and late(response))


@pytest.fixture
def pair() -> list[Detector]:
    return [factories.detector("strict"), factories.detector("lenient")]


def labelled(over: Dataset, name: str, pair: list[Detector], detect: Any, answered: int = 10) -> None:
    run = factories.run(dataset=over, model=factories.model(name), answered=answered, state="complete")
    for detector in pair:
        factories.detector_labels(detector, run, detect)


def counting_set(over: Dataset) -> ResultSet:
    found = results.default(over)
    assert found is not None
    return found


def asked(kind: str, over: Dataset, by: User, **parameters: Any) -> Analysis:
    row = analyses.request(kind=kind, result_set=counting_set(over), parameters=parameters, seed=7, by=by)
    if row.state == "waiting":
        analyses.run(analysis=row)
        row.refresh_from_db()
    assert row.state == "done", row.error
    return row


def parts(row: Analysis) -> list[Section]:
    return KINDS[row.kind].sections(row.result)


def test_intervals_are_those_of_the_tables_and_bands_hold_them(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=9)
    labelled(over, "Early", pair, by_class)
    labelled(over, "Gappy", pair, late, answered=7)
    row = asked("intervals", over, ada)
    assert row.result is not None
    found = {(one["model"], one["level"], one["k"]): one for one in row.result["rows"]}
    cells = frames.cells(frames.masks(counting_set(over)), "corr_tp")
    mean = [cell for cell in cells if cell.column == frames.AVG]
    assert len(mean) == len(found) == 2 * 4 * 7
    for cell in mean:
        one = found[f"{cell.model.name} (simulated)", cell.level, cell.k]
        low, high = (None, None) if one["value_interval"] is None else one["value_interval"]
        assert (one["value"], low, high) == (cell.estimate.value, cell.estimate.low, cell.estimate.high)
        assert one["value_n"] == cell.estimate.n
        if one["band"]:
            assert one["band"][0] <= low <= high <= one["band"][1]
    assert all(one["caution"].startswith("fewer than 90 images") for one in found.values() if one["value"] is not None)
    assert "caution" in parts(row)[0].words
    told = [record["caution"] for record in frames.rows(frames.masks(counting_set(over)), "corr_tp")]
    assert {words.partition(" images")[0] for words in told if words} == {"fewer than 90"}


def test_intervals_of_one_detector_and_of_correct_turns(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=3)
    labelled(over, "Early", pair, by_class)
    row = asked("intervals", over, ada, measure="corr_fp", label="strict")
    assert row.result is not None
    assert {one["k"] for one in row.result["rows"]} == {1, 2, 3}
    assert row.result["label"] == str(pair[0])
    alone = next(one for one in row.result["rows"] if one["level"] == "identity")
    assert (alone["bootstrap"], alone["reason"]) == (None, "no interval: all answers are of one image")


def test_models_that_differ_on_every_image_share_no_letter(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=12)
    labelled(over, "Early", pair, by_class)
    labelled(over, "Twin", pair, by_class)
    labelled(over, "Mostly", pair, lambda response: (response.dialogue.item_id + response.turn) % 4 > 0)
    labelled(over, "Rarely", pair, lambda response: (2 * response.dialogue.item_id + response.turn) % 5 == 0)
    row = asked("comparisons", over, ada)
    assert row.result is not None
    letters = {one["model"].removesuffix(" (simulated)"): set(one["letters"].split()) for one in row.result["models"]}
    assert letters["Early"] == letters["Twin"]
    assert not letters["Mostly"] & letters["Rarely"]
    pairs = {(one["first"].split()[0], one["second"].split()[0]): one for one in row.result["pairs"]}
    twins = pairs["Early", "Twin"]
    assert (twins["difference"], twins["p"], twins["differ"]) == (0.0, None, False)
    assert twins["reason"].startswith("no interval: it is the same on every image")
    tested = [one for one in row.result["pairs"] if one["p"] is not None]
    smallest = min(tested, key=lambda one: one["p"])
    assert smallest["adjusted"] == pytest.approx(min(1, smallest["p"] * len(tested)))
    assert "1 can't be tested" in parts(row)[0].words
    assert parts(row)[0].figure is not None


def test_a_pair_is_compared_on_shared_turns_and_images_count_once(ada: User, pair: list[Detector]) -> None:
    # Two variants of one image and an item of another: turns 4 to 7 are what both models have.
    over = factories.dataset()
    shown = over.items.get().image
    factories.dataset_item(over, image=shown, premise_class="attribute")
    factories.dataset_item(over, premise_class="location")
    labelled(over, "Whole", pair, late)
    labelled(over, "Short", pair, False, answered=7)
    (one,) = asked("comparisons", over, ada).result["pairs"]  # type: ignore[index]
    assert (one["n"], one["images"]) == (3 * 4, 2)
    # Whole corrects turns 6 and 7 of these four.
    assert one["difference"] == pytest.approx(50)
    with pytest.raises(Invalid, match="lies in several cells"):
        asked("stratified", over, ada)


def test_one_model_has_nothing_to_be_compared_with(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=3)
    labelled(over, "Early", pair, late)
    with pytest.raises(Invalid, match="needs two models"):
        asked("comparisons", over, ada)


def test_the_ordering_of_few_images_and_draws_that_are_not_possible(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=6)
    labelled(over, "Early", pair, by_class)
    labelled(over, "Early too", pair, by_class)
    row = asked("stratified", over, ada)
    assert row.result is not None
    assert (row.result["cells"], row.result["images"], row.result["holds"]) == (3, 6, True)
    again, once = row.result["draws"][:5], row.result["draws"][5:]
    assert [draw["kept"] for draw in again] == [1_000] * 5
    assert {(draw["kept"], draw["reason"]) for draw in once} == {(None, "a cell has 2 images")}
    assert "5 draws are not possible" in parts(row)[0].words
    assert asked("stratified", over, ada).pk == row.pk


def test_a_class_without_dialogues_has_no_place_in_the_ordering(ada: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=2)
    labelled(over, "Early", pair, late)
    with pytest.raises(Invalid, match="no dialogue of location"):
        asked("stratified", over, ada)


@pytest.mark.parametrize("name", ["results", "leaderboard"])
def test_a_page_marks_intervals_that_may_cover_less(name: str, rita: User, pair: list[Detector]) -> None:
    labelled(factories.dataset(items=3), "Early", pair, by_class)
    page = client_of(rita).get(reverse(name)).content.decode()
    (cell,) = frames.cells(frames.masks(counting_set(Dataset.objects.get())), "corr_tp", only_k=10, columns=["avg"])[:1]
    assert leaderboard.interval_text(cell.estimate).endswith("] †")
    assert leaderboard.interval_text(cell.estimate) in page
    assert "fewer than 90 images" in page
    assert leaderboard.interval_text(Estimate(0.5, 0.4, 0.6, 630, 315.0, images=90)) == "[0.400, 0.600]"


@pytest.mark.parametrize("kind", ["intervals", "comparisons", "stratified"])
def test_a_reader_sees_the_stored_analysis(kind: str, ada: User, rita: User, pair: list[Detector]) -> None:
    over = factories.dataset(items=6)
    for name in ("Early", "Later"):
        labelled(over, name, pair, by_class if name == "Early" else late)
    row = asked(kind, over, ada)
    page = client_of(rita).get(reverse("analysis_detail", args=[row.pk])).content.decode()
    for section in parts(row):
        assert escape(section.title) in page


def test_the_studys_ordering_holds_in_every_repetition_of_the_published_counts() -> None:
    items, masks = made_items(), pack(np.moveaxis(made_labels(1), 3, 1))
    places = {axis: np.array([getattr(one, axis) for one in items]) for axis in frames.BREAKDOWNS}
    names = [model.name for model in published_models()]
    labels = Labels(
        models=names,
        families=names,
        detectors=["gpt", "gemini"],
        detector_names=["GPT", "Gemini"],
        primary=[0, 1],
        places=places,
        images=np.arange(len(items)),
        labelled=np.full_like(masks, 1023),
        correction=masks,
        turns=10,
        false_turns=list(range(4, 11)),
        true_turns=[1, 2, 3],
    )
    cells = np.array([one.number // 30 for one in items])
    given = stratified.Inputs(labels, [0, 1], cells, places["premise_class"])
    found = digests.plain(stratified.run(given, {"label": "mean"}, np.random.default_rng(1)))
    assert [f"{found['means'][name]:.2f}" for name in CLASSES] == ["0.56", "0.41", "0.15"]
    assert [draw["kept"] for draw in found["draws"]] == [1_000] * 10
    assert sum(model["holds"] for model in found["models"]) == 16
    whole = found["draws"][-1]
    assert (whole["size"], whole["replace"]) == (30, False)
    assert {round(whole["classes"][name]["deviation"], 9) for name in CLASSES} == {0}
