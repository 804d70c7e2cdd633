"""The demo study: what a newcomer finds, and that a load which was stopped becomes whole."""

from collections import Counter

import pytest
from django.db.models import Model

from annotate.models import Assignment, Dataset, Draft, Image, Item, Label, LabelSet, LabelTask, Review, Turn, User
from benchmark.models import (
    Attempt,
    Detection,
    Detector,
    DetectorLabel,
    Dialogue,
    EvaluatedModel,
    Release,
    Response,
    Run,
    ValidationSet,
)
from benchmark.services import blindness, demo, releases, results
from benchmark.statistics.agreement import compare
from fpco_site.llm.engine import pump

ROWS: tuple[type[Model], ...] = (
    User,
    Image,
    Item,
    Turn,
    Review,
    Draft,
    Dataset,
    EvaluatedModel,
    Detector,
    Run,
    Dialogue,
    Response,
    Attempt,
    Detection,
    DetectorLabel,
    LabelSet,
    LabelTask,
    Assignment,
    Label,
    ValidationSet,
    Release,
)

pytestmark = pytest.mark.django_db


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in ROWS}


@pytest.fixture
def dataset(demo_study: dict[str, User]) -> Dataset:
    return Dataset.objects.get(name=demo.NAME)


def test_photographs_of_every_category_and_complexity_wait_in_all_states(dataset: Dataset) -> None:
    assert Counter(Item.objects.values_list("state", flat=True)) == {"approved": 18, "in_review": 1, "draft": 1}
    assert Image.objects.filter(items=None).count() == 3
    assert not Image.objects.filter(license="").exists()
    assert dataset.items.count() == 18
    for axis, levels in (("complexity", 3), ("category", 4), ("premise_class", 3)):
        assert dataset.items.order_by(axis).values(axis).distinct().count() == levels


def test_what_ada_wrote_ben_approved(dataset: Dataset) -> None:
    reviews = Review.objects.filter(verdict="approved")
    assert reviews.count() == 18
    assert set(reviews.values_list("reviewer__username", flat=True)) == {"ben"}


def test_an_item_has_both_drafts_and_they_are_marked(dataset: Dataset) -> None:
    drafts = Draft.objects.all()
    assert {(draft.kind, draft.state, draft.simulated) for draft in drafts} == {
        ("questions", "ready", True),
        ("premise", "ready", True),
    }
    assert {draft.item.state for draft in drafts} == {"draft"}


def test_two_models_answered_everything_and_a_filtered_one_did_not(dataset: Dataset) -> None:
    runs = {run.model.name: run for run in Run.objects.select_related("model")}
    assert {name: run.state for name, run in runs.items()} == {
        "Scripted Skeptic": "complete",
        "Scripted Agreeable": "complete",
        "Scripted Filtered": "incomplete",
    }
    assert all(run.simulated for run in runs.values())
    for name in ("Scripted Skeptic", "Scripted Agreeable"):
        assert Response.objects.filter(dialogue__run=runs[name]).count() == 180
    outcomes = set(Attempt.objects.filter(dialogue__run=runs["Scripted Filtered"]).values_list("outcome", flat=True))
    assert outcomes == {"answered", "blocked", "empty", "cut", "refused", "failed"}


def test_both_detectors_labelled_every_response_and_differ(dataset: Dataset) -> None:
    labels = {
        slug: dict(DetectorLabel.objects.filter(detector__slug=slug).values_list("response", "detect"))
        for slug in ("rules-strict", "rules-lenient")
    }
    assert len(labels["rules-strict"]) == len(labels["rules-lenient"]) == Response.objects.count()
    assert sum(labels["rules-strict"].values()) < sum(labels["rules-lenient"].values())
    assert Detector.objects.filter(slug__startswith="rules").exclude(simulated=True).count() == 0


def test_the_models_differ_in_habit(dataset: Dataset) -> None:
    def corrected(model: str) -> int:
        of = DetectorLabel.objects.filter(dialogue__run__model__name=model, turn__gte=4, detect=True)
        return of.filter(detector__slug="rules-lenient").count()

    assert corrected("Scripted Skeptic") > 1.5 * corrected("Scripted Agreeable") > 0


def test_the_catalogue_of_the_study_is_there(dataset: Dataset) -> None:
    assert EvaluatedModel.objects.exclude(family="Scripted").count() == 20
    assert set(Detector.objects.values_list("slug", flat=True)) == {"gpt", "gemini", "rules-strict", "rules-lenient"}


def test_the_main_round_is_open_for_lea_and_lou_and_has_simulated_labels(demo_study: dict[str, User]) -> None:
    main = ValidationSet.objects.get(label_set__name=demo.MAIN)
    assert (main.per_cell, main.seed, main.label_set.state) == (6, 1, "open")
    assert main.items.count() == 3 * 3 * 6
    assert set(main.label_set.assignments.values_list("person__username", flat=True)) == {"lea", "lou"}
    labelled = Label.objects.filter(assignment__label_set=main.label_set)
    assert labelled.exists()
    assert not Label.objects.exclude(simulated=True).exists()
    for assignment in main.label_set.assignments.all():
        assert 0 < assignment.labels.values("task").distinct().count() < main.items.count()


def test_the_pilot_is_closed_and_its_kappas_can_be_read(dataset: Dataset) -> None:
    pilot = LabelSet.objects.get(name=demo.PILOT)
    one, two = (
        dict(assignment.labels.values_list("task", "detect")) for assignment in pilot.assignments.order_by("id")
    )
    tasks = [task.pk for task in pilot.tasks.all()]
    kappa = compare([one[task] for task in tasks], [two[task] for task in tasks]).kappa.value
    assert pilot.state == "closed"
    assert kappa is not None
    assert 0.4 < kappa < 1


def test_only_those_who_label_are_blind(demo_study: dict[str, User], dataset: Dataset) -> None:
    blind = {name for name, person in demo_study.items() if blindness.withheld_from(person, dataset)}
    assert blind == {"lea", "lou"}


def test_results_count_every_model_and_both_rules(dataset: Dataset) -> None:
    result_set = results.default(dataset)
    assert result_set is not None
    assert {row.model.name for row in result_set.runs.all()} == {values["name"] for values in demo.MODELS}
    slugs = [row.detector.slug for row in result_set.detectors.order_by("position")]
    assert slugs == ["rules-strict", "rules-lenient"]


def test_a_second_load_changes_nothing(demo_study: dict[str, User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "run", lambda **_: True)
    before = counts()
    demo.load(people=demo_study)
    assert counts() == before


def test_a_release_is_there_and_another_lab_would_accept_it(dataset: Dataset) -> None:
    release = Release.objects.get(dataset=dataset)
    assert release.state == "ready"
    assert len(releases.verify(folder=releases.path_of(release)).items) == 18
