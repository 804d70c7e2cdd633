"""Corrected rates from a validation set: what is read, what is refused, what its page says, and who may see it."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from numpy.typing import NDArray

from annotate.models import Dataset, LabelSet, User
from annotate.models.labels import LabelSetState, Mode
from annotate.models.people import Role
from annotate.services import adjudication, labels
from benchmark import charts, correcting, frames_corrected
from benchmark.analyses import corrected as analysis
from benchmark.charts.beside import beside
from benchmark.correcting import BIASED, METHODS, NO_PROBABILITIES, NOT_KNOWN, POOL, POST_STRATIFIED, Drawn
from benchmark.designs import Kind, Plan
from benchmark.models import Analysis, DetectorLabel, Response, ResultSet, ValidationSet
from benchmark.services import analyses, results, validation
from benchmark.statistics.corrected import Corrected, Layout, Sample, post_stratified
from fpco_site.errors import Invalid
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]
MODELS = 5


def truth(response: Response) -> bool:
    """What is right: the first models correct most, all correct more in later dialogues."""
    return (7 * response.turn + 3 * response.dialogue_id) % 10 < 2 + response.dialogue_id % 6


@dataclass(frozen=True)
class House:
    """Five models over nine dialogues; of two detectors one misses every fifth answer, one sees too much at turn 8."""

    over: Dataset
    row: ValidationSet
    ada: User
    lea: User
    lou: User
    rita: User


@pytest.fixture(scope="module")
def house(django_db_setup: None, django_db_blocker: Any) -> Iterator[House]:
    """Loaded once: every test of this module rolls back."""
    with django_db_blocker.unblock():
        try:
            yield build()
        finally:
            call_command("flush", interactive=False, verbosity=0)


def build() -> House:
    over = factories.dataset(items=9)
    first, second = factories.detector("misses"), factories.detector("imagines")
    for number in range(MODELS):
        run = factories.run(dataset=over, model=factories.model(f"Model {number}"), answered=10, state="complete")
        factories.detector_labels(first, run, lambda response: truth(response) and response.pk % 5 > 0)
        factories.detector_labels(second, run, lambda response: truth(response) or response.turn == 8)
    results.default(over)
    ada, rita = factories.person("ada", Role.AUTHOR), factories.person("rita", Role.READER)
    lea, lou = (factories.person(name, Role.ANNOTATOR) for name in ("lea", "lou"))
    row = validation.close(validation_set=drawn(over, [lea, lou]), by=ada)
    return House(over, row, ada, lea, lou, rita)


@pytest.fixture
def over(house: House) -> Dataset:
    return house.over


@pytest.fixture
def row(house: House) -> ValidationSet:
    return house.row


@pytest.fixture
def ada(house: House) -> User:
    return house.ada


@pytest.fixture
def lea(house: House) -> User:
    return house.lea


@pytest.fixture
def lou(house: House) -> User:
    return house.lou


@pytest.fixture
def rita(house: House) -> User:
    return house.rita


def drawn(over: Dataset, people: list[User], *, plan: Plan | None = None, mode: str = Mode.CROSSED) -> ValidationSet:
    """A set that everybody labels with the truth, but for Lou, who slips at every eighth answer; not closed yet."""
    made = validation.open(
        dataset=over, annotators=people, by=None, plan=plan or Plan(number=5), seed=3, mode=mode, labels_per_task=2
    )
    for number, item in enumerate(made.items.select_related("task", "response__dialogue").order_by("id")):
        for mine in made.label_set.assignments.all():
            slip = mine.person.username == "lou" and number % 8 == 3
            labels.record(
                assignment=mine,
                task=item.task,
                detect=truth(item.response) ^ slip,
                client=uuid.uuid4(),
                sequence=1,
            )
    return made


def told(over: Dataset, **parameters: Any) -> dict[str, Any]:
    result_set = results.default(over)
    assert result_set is not None
    made = analyses.request(kind="corrected", result_set=result_set, parameters=parameters, by=None)
    assert made.state == "done", made.error
    return made.result


def by_method(rows: list[dict[str, Any]], level: str = "overall") -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in rows if row["level"] == level}


# What is computed -----------------------------------------------------------------------------------


def test_rates_are_those_that_the_labels_give_by_hand(row: ValidationSet, over: Dataset) -> None:
    """Post-stratified from the labels: the human rate where the detectors say as much, by its known share."""
    found = by_method(told(over, truth="human-1")["overall"])
    said: dict[int, list[bool]] = {}
    for response, detect in DetectorLabel.objects.filter(turn__gte=4).values_list("response", "detect"):
        said.setdefault(response, []).append(detect)
    assert len(said) == MODELS * 9 * 7
    sample = {item.response_id: truth(item.response) for item in row.items.select_related("response__dialogue")}
    expected = 0.0
    for score in (0, 1, 2):
        there = [key for key, both in said.items() if sum(both) == score]
        labelled = [key for key in there if key in sample]
        expected += len(there) / len(said) * sum(sample[key] for key in labelled) / len(labelled)
    assert found[POST_STRATIFIED]["value"] == pytest.approx(expected)
    uncorrected = sum(sum(both) for both in said.values()) / 2 / len(said)
    assert found[POST_STRATIFIED]["raw"] == pytest.approx(uncorrected)
    departure = sum(sample[key] - sum(said[key]) / 2 for key in sample) / len(sample)
    assert found["ppi"]["value"] == pytest.approx(uncorrected + departure)
    for one in found.values():
        assert one["interval"][0] <= one["value"] <= one["interval"][1]
        assert one["n"] == MODELS * 3 * 5
        assert "fewer than 90 images" in one["caution"]


def test_labels_are_known_to_be_of_the_images_whose_answers_they_are(
    row: ValidationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what a label and the other answers of its image have in common is counted, for a part as for all."""
    given = []

    def spy(sample: Sample, counts: NDArray[np.int64], layout: Layout, *, images: NDArray[np.int64]) -> Corrected:
        given.append((sample, counts, images))
        return post_stratified(sample, counts, layout, images=images)

    monkeypatch.setattr(analysis, "post_stratified", spy)
    study = frames_corrected.study(row, truth="human-1")
    analysis.run(study, {}, np.random.default_rng(1))
    assert len(given) == 1 + 3 + MODELS
    for sample, counts, images in given:
        assert len(images) == len(counts) == len(set(images.tolist()))
        assert set(sample.images.tolist()) <= set(images.tolist())
    for image in study.false.images.tolist():
        of_it = study.false.counts.sum(axis=0)[study.false.images == image].sum(axis=0)
        whole = given[0]
        assert whole[1][whole[2] == image].sum(axis=0).tolist() == of_it.tolist()


def test_sensitivity_and_specificity_of_few_images_say_so(row: ValidationSet, over: Dataset) -> None:
    found = told(over, truth="human-1")["error"]
    assert [one["name"] for one in found] == ["sensitivity", "specificity"]
    assert all("fewer than 90 images" in one["caution"] for one in found)


def test_each_model_has_its_own_the_pooled_and_the_partly_pooled_rate(row: ValidationSet, over: Dataset) -> None:
    found = told(over)
    for number in range(MODELS):
        of = by_method(found["models"], f"Model {number} (simulated)")
        assert set(of) == set(METHODS)
        assert of["ppi_tuned"]["n"] <= 15 < of["pooled"]["n"]
        assert of["partial"]["value"] is not None
        assert 0 < of["partial"]["tuning"] < 1
        assert "fewer than 90 images" in of["partial"]["caution"]
        pooled, own = of["pooled"]["interval"], of["ppi_tuned"]["interval"]
        assert pooled[1] - pooled[0] < own[1] - own[0]
    assert {one["level"] for one in found["classes"]} == {"identity", "attribute", "location"}


def test_the_truth_is_declared_and_what_it_leaves_out_is_counted(row: ValidationSet, over: Dataset, ada: User) -> None:
    """Lou slips at 10 of 75 answers: on those nothing is agreed, and until something is decided they are left out."""
    assert [told(over, truth=key)["n"] for key in ("human-1", "human-2", "adjudicated")] == [75, 75, 66]
    before = told(over)
    assert (before["drawn"], before["undecided"], before["unlabelled"]) == (75, 9, 0)
    task = next(item.task for number, item in enumerate(row.items.order_by("id")) if number == 3)
    adjudication.decide(task=task, detect=True, reason="It says so.", together=False, by=ada)
    assert (told(over)["n"], told(over)["undecided"]) == (67, 8)


def test_a_new_detector_label_is_another_question(row: ValidationSet, over: Dataset) -> None:
    first = told(over)
    assert told(over) == first
    assert Analysis.objects.filter(kind="corrected").count() == 1
    told(over, truth="human-2")
    assert Analysis.objects.filter(kind="corrected").count() == 2


# What is refused ------------------------------------------------------------------------------------


def test_without_a_closed_set_there_is_nothing_to_correct_with(row: ValidationSet, over: Dataset) -> None:
    LabelSet.objects.filter(pk=row.label_set_id).update(state=LabelSetState.OPEN, closed_at=None, closed_by=None)
    with pytest.raises(Invalid, match="No validation set of this dataset is closed yet"):
        told(over)


def test_needless_corrections_need_labels_of_correct_turns(
    row: ValidationSet, over: Dataset, lea: User, ada: User
) -> None:
    assert "nobody labelled answers to turns with a correct premise" in told(over)["correct"]["reason"]
    again = drawn(over, [lea], plan=Plan(number=2, correct=6))
    validation.close(validation_set=again, by=ada)
    found = told(over, truth="human-1")["correct"]
    assert (found["k"], found["n"]) == (3, 30)
    assert by_method(found["rows"])[POST_STRATIFIED]["value"] is not None


def test_a_draw_by_disagreement_is_weighted_and_unweighted_is_refused(over: Dataset, lea: User, ada: User) -> None:
    plan = Plan(kind=Kind.DISAGREEMENT, number=30, agreeing=30)
    made = validation.close(validation_set=drawn(over, [lea], plan=plan), by=ada)
    found = by_method(told(over, truth="human-1")["overall"])
    everything = Response.objects.filter(turn__gte=4).select_related("dialogue")
    rate = sum(truth(response) for response in everything) / everything.count()
    for method in (POST_STRATIFIED, "ppi", "rogan_gladen"):
        low, high = found[method]["interval"]
        assert low <= rate <= high
        assert found[method]["value"] == pytest.approx(rate, abs=0.12)
    unweighted = sum(truth(item.response) for item in made.items.select_related("response__dialogue")) / 60
    assert abs(unweighted - rate) > 2 * abs(found[POST_STRATIFIED]["value"] - rate)
    made.items.update(inclusion_probability=1.0)
    without = told(over, truth="human-1")
    assert set(without["refused"].values()) == {BIASED}
    assert [row["value"] is None for row in without["overall"]] == [False, True, True, True]
    assert by_method(without["overall"])[POST_STRATIFIED]["value"] == pytest.approx(found[POST_STRATIFIED]["value"])


def test_an_import_that_does_not_tell_how_it_was_drawn_corrects_nothing(row: ValidationSet, over: Dataset) -> None:
    ValidationSet.objects.filter(pk=row.pk).update(design={})
    found = told(over)
    assert set(found["refused"].values()) == {NOT_KNOWN}
    assert all(one["value"] is None and one["reason"] == NOT_KNOWN for one in [*found["overall"], *found["models"]])
    assert {one["reason"] for one in found["error"]} == {NOT_KNOWN}


def test_in_a_pool_no_person_is_the_truth(over: Dataset, lea: User, lou: User, ada: User) -> None:
    made = validation.close(validation_set=drawn(over, [lea, lou], mode=Mode.POOL), by=ada)
    assert made.label_set.mode == Mode.POOL
    assert set(told(over, truth="human-1")["refused"].values()) == {POOL}
    assert told(over)["refused"] == {}


@pytest.mark.parametrize(
    ("changed", "methods", "reason"),
    [
        ({}, set(), ""),
        ({"kind": Kind.LABEL}, set(), ""),
        ({"kind": ""}, set(METHODS), NOT_KNOWN),
        ({"weighted": False}, set(METHODS), NO_PROBABILITIES),
        ({"kind": Kind.LABEL, "weighted": False}, set(METHODS) - {POST_STRATIFIED}, BIASED),
        ({"pool": True, "one_person": True}, set(METHODS), POOL),
        ({"pool": True}, set(), ""),
        ({"kind": Kind.LABEL, "pair": ["a", "c"]}, set(METHODS), "the answers were drawn by what a and b said, not by"),
    ],
)
def test_which_corrections_are_valid_depends_on_the_draw(
    changed: dict[str, Any], methods: set[str], reason: str
) -> None:
    given = {"kind": Kind.MODEL_CLASS, "each_detector": False, "weighted": True, "by": ["a", "b"], "pair": ["a", "b"]}
    refused = correcting.refused(Drawn(**{**given, "pool": False, "one_person": False, **changed}))
    assert set(refused) == methods
    assert all(said.startswith(reason) for said in refused.values())


# The page -------------------------------------------------------------------------------------------


def test_the_page_says_it_in_words_and_only_to_open_eyes(
    row: ValidationSet, over: Dataset, rita: User, lea: User, ada: User, as_: As
) -> None:
    told(over)
    made = Analysis.objects.get(kind="corrected")
    address = reverse("analysis_detail", args=[made.pk])
    page = as_(rita).get(address).text
    for words in ("The target is the rate that people would", "because people differ and nothing was decided"):
        assert words in page
    assert "Answers on which people differ are the hard ones" in page
    assert "Not corrected: nobody labelled answers" in page
    assert f"{by_method(made.result['overall'])[POST_STRATIFIED]['value']:.3f}" in page
    assert as_(lea).get(address).status_code in (403, 404)
    drawn(over, [ada])
    assert as_(ada).get(address).status_code == 403  # Ada labels now
    assert as_(rita).get(address).status_code == 200


def test_a_set_of_other_results_of_the_dataset_serves_after_its_own(row: ValidationSet, over: Dataset) -> None:
    newer = ResultSet.objects.create(dataset=over, name="newer")
    assert [one.pk for one in frames_corrected.closed_sets(newer)] == [row.pk]
    assert told(over, validation_set=str(row.pk))["set"] == row.label_set.name


def test_the_figure_says_in_words_what_it_shows_and_leaves_a_place_for_what_is_undefined() -> None:
    spec = beside(
        [
            {"name": "Model A", "estimate": "Detectors", "value": 0.5, "low": 0.4, "high": 0.6, "n": 70},
            {"name": "Model A", "estimate": "Own labels", "value": None, "low": None, "high": None, "n": 18},
        ],
        metric="CorrTP@10",
    )
    assert "Model A, Detectors: 0.500 [0.400, 0.600]; Model A, Own labels: undefined." in spec["description"]
    drawn = charts.render(spec, "svg").decode()
    assert charts.render(spec, "svg").decode() == drawn
    assert "Own labels" in drawn
