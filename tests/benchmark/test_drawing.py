"""Drawing a validation set: designs on real rows, self-naming, modes, one set a page, and the draw made again."""

import html
import json
import uuid
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, LabelSet, User
from annotate.services import labels
from benchmark.designs import Kind, Naming, Plan
from benchmark.models import DetectionJob, DetectorLabel, Dialogue, EvaluatedModel, Response, Run, ValidationSet
from benchmark.services import release_export, results, validation
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.db

MODELS = ("Model 0", "Model 1")
NAMED = (4, 5)  # on these turns of every dialogue Model 0 says who it is


@pytest.fixture
def over(db: None) -> Dataset:
    """Six dialogues of two models: strict corrects from turn 6 on, lenient from turn 8 on."""
    made = factories.dataset("Pilot", items=6)
    detectors = [(factories.detector("strict"), 6), (factories.detector("lenient"), 8)]
    for name in MODELS:
        run = factories.run(dataset=made, model=factories.model(name), state="complete")
        for dialogue in run.dialogues.all():
            Response.objects.bulk_create(
                Response(dialogue=dialogue, turn=turn, text=says(name, turn)) for turn in range(1, 11)
            )
        for detector, start in detectors:
            factories.detector_labels(detector, run, lambda response, start=start: response.turn >= start)
    Dialogue.objects.update(state="complete")
    return made


def says(name: str, turn: int) -> str:
    return "As ChatGPT, I see no dog." if name == "Model 0" and turn in NAMED else f"It rests on the chair, {turn}."


def opened(over: Dataset, people: list[User], plan: Plan, **more: Any) -> ValidationSet:
    return validation.open(**{"dataset": over, "annotators": people, "by": None, "plan": plan, "seed": 1, **more})


def turns_of(row: ValidationSet) -> Counter[tuple[str, int]]:
    return Counter(row.items.values_list("stratum", "response__turn"))


def strata_of(row: ValidationSet) -> Counter[tuple[str, float]]:
    return Counter(row.items.values_list("stratum", "inclusion_probability"))


def test_at_random_every_answer_has_the_same_probability(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(kind=Kind.RANDOM, number=21))
    assert strata_of(row) == {("all answers", 21 / 84): 21}
    assert (row.design["frame"], row.design["drawn"]) == (84, 21)


def test_by_label_the_pair_says_in_which_stratum_an_answer_is(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(kind=Kind.LABEL, number=6))
    # Twelve dialogues: turns 4, 5 neither; 6, 7 strict alone; 8, 9, 10 both.
    assert strata_of(row) == {("neither", 6 / 24): 6, ("one-sided", 6 / 24): 6, ("both", 6 / 36): 6}
    assert {turn for stratum, turn in turns_of(row) if stratum == "one-sided"} <= {6, 7}
    apart = opened(over, [lea], Plan(kind=Kind.LABEL, number=6, each_detector=True))
    assert strata_of(apart)["only strict", 6 / 24] == 6
    assert {"stratum": ["only lenient"], "available": 0, "wanted": 6} in apart.design["shortfalls"]


def test_by_disagreement_those_on_which_detectors_differ_are_oversampled(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(kind=Kind.DISAGREEMENT, number=12, agreeing=6))
    assert strata_of(row) == {("detectors disagree", 12 / 24): 12, ("detectors agree", 6 / 60): 6}


def test_an_answer_that_one_detector_did_not_label_is_not_drawn_by_label(over: Dataset, lea: User) -> None:
    DetectorLabel.objects.filter(detector__slug="lenient", turn=6).delete()
    Run.objects.update(patterns_dirty=True)
    row = opened(over, [lea], Plan(kind=Kind.LABEL, number=50))
    assert (row.design["frame"], row.design["left_out"]) == (72, 12)
    assert 6 not in {turn for _, turn in turns_of(row)}


def test_a_design_by_labels_waits_for_the_detectors_and_needs_two(over: Dataset, lea: User) -> None:
    DetectionJob.objects.filter(detector__slug="strict").update(state="running")
    with pytest.raises(Conflict, match="strict is still labelling"):
        opened(over, [lea], Plan(kind=Kind.LABEL))
    assert opened(over, [lea], Plan()).design["drawn"] == 36
    alone = results.create(dataset=over, name="one", runs=list(Run.objects.all()), detectors=[], by=None)
    with pytest.raises(Invalid, match="no two detectors"):
        opened(over, [lea], Plan(kind=Kind.DISAGREEMENT, agreeing=1), result_set=alone)


def test_turns_with_a_correct_premise_are_a_stratum_of_each_model(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(number=2, correct=4))
    drawn = {(stratum, turn) for stratum, turn in turns_of(row) if stratum.endswith("correct turns")}
    assert {stratum for stratum, _ in drawn} == {f"{name} / correct turns" for name in MODELS}
    assert {turn for _, turn in drawn} <= {1, 2, 3}
    assert strata_of(row)["Model 1 / correct turns", 4 / 18] == 4
    assert row.label_set.tasks.filter(modified="").count() == 8
    assert row.design["correct_turns"] == [1, 2, 3]
    task = row.label_set.tasks.filter(modified="")[0]
    page = client_of(lea).get(reverse("label_task", args=[row.label_set_id, task.pk]))
    assert page.status_code == 200
    assert task.content in html.unescape(page.text)


# Answers that name a model ------------------------------------------------------------------------------


def test_self_naming_answers_are_counted_and_left(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(number=14))
    naming = row.design["naming"]
    # Six dialogues of Model 0, two turns each; 14 of each class are all there are.
    assert (naming["rule"], naming["found"], naming["drawn"], naming["replaced"]) == ("leave", 12, 12, 0)
    assert set(strata_of(row).values()) == {14}


def test_self_naming_answers_are_replaced_unseen_within_their_stratum(over: Dataset, lea: User) -> None:
    left, row = (opened(over, [lea], Plan(number=6, naming=rule)) for rule in Naming)
    assert not row.items.filter(response__text__contains="ChatGPT").exists()
    assert Counter(row.items.values_list("stratum", flat=True)) == Counter(left.items.values_list("stratum", flat=True))
    # 14 a stratum, four of Model 0 name it: 6 of 10; of Model 1 none does: 6 of 14.
    assert strata_of(row) == {
        (f"{name} / {place}", probability): 6
        for name, probability in (("Model 0", 6 / 10), ("Model 1", 6 / 14))
        for place in ("identity", "attribute", "location")
    }
    named = left.items.filter(response__text__contains="ChatGPT").count()
    assert (left.design["naming"]["drawn"], row.design["naming"]["drawn"]) == (named, 0)
    assert row.design["naming"]["replaced"] >= named > 0
    kept = set(left.items.exclude(response__text__contains="ChatGPT").values_list("response", flat=True))
    assert kept <= set(row.items.values_list("response", flat=True))


def test_what_replacing_leaves_too_few_is_a_shortfall(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(number=12, naming=Naming.REPLACE))
    assert {"stratum": ["Model 0", "identity"], "available": 10, "wanted": 12} in row.design["shortfalls"]
    assert row.design["naming"]["replaced"] == 12


def test_a_models_own_name_counts(over: Dataset, lea: User) -> None:
    EvaluatedModel.objects.filter(name="Model 1").update(name="Quince-7B")
    run = Run.objects.get(model__name="Quince-7B")
    late = Dialogue.objects.create(run=run, item=factories.dataset_item(over), state="complete")
    Response.objects.create(dialogue=late, turn=4, text="quince-7b sees a cat.")
    found = validation.prepare(dataset=over, plan=Plan()).survey
    assert found.named["Quince-7B", "identity"] == 1


# Modes, people and the page -----------------------------------------------------------------------------


def test_a_pool_is_opened_for_whoever_joins(over: Dataset, lea: User) -> None:
    row = opened(over, [], Plan(number=2), mode="pool", labels_per_task=3)
    assert (row.label_set.mode, row.label_set.labels_per_task) == ("pool", 3)
    assert labels.join(label_set=row.label_set, by=lea).pseudonym == "H1"


@pytest.mark.parametrize("more", [{"mode": "free"}, {"mode": "pool", "labels_per_task": 0}, {"labels_per_task": 51}])
def test_an_unknown_mode_and_odd_numbers_are_refused(over: Dataset, lea: User, more: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        opened(over, [lea], Plan(), **more)
    assert not LabelSet.objects.exists()


def test_who_labels_does_not_choose_the_seed(over: Dataset, ada: User, lea: User) -> None:
    with pytest.raises(Invalid, match="seed must not be known to you"):
        opened(over, [ada, lea], Plan(), by=ada)
    with pytest.raises(Invalid, match="could join its pool"):
        opened(over, [lea], Plan(), by=ada, mode="pool")
    assert opened(over, [ada, lea], Plan(), by=ada, seed=None).design["seed_chosen"] is False
    assert opened(over, [lea], Plan(), by=ada).design["seed_chosen"] is True


def test_a_page_that_is_sent_twice_opens_one_set(over: Dataset, lea: User) -> None:
    page = uuid.uuid4()
    first, again = (opened(over, [lea], Plan(), seed=None, client=page) for _ in range(2))
    assert first == again
    assert LabelSet.objects.count() == 1
    assert opened(over, [lea], Plan(), seed=None, client=uuid.uuid4()) != first


def test_numbers_that_changed_since_the_preview_stop_the_draw(over: Dataset, lea: User) -> None:
    shown = validation.prepare(dataset=over, plan=Plan()).survey.fingerprint
    late = factories.dataset_item(over)
    dialogue = Dialogue.objects.create(run=Run.objects.order_by("id")[0], item=late, state="complete")
    factories.answers(dialogue, 10)
    with pytest.raises(Conflict, match="changed since the preview"):
        opened(over, [lea], Plan(), shown=shown)
    now = validation.prepare(dataset=over, plan=Plan()).survey.fingerprint
    assert opened(over, [lea], Plan(), shown=now).design["drawn"] == 36


def test_a_result_set_of_another_dataset_is_refused(over: Dataset, lea: User) -> None:
    other = factories.dataset()
    factories.run(dataset=other, answered=10, state="complete")
    with pytest.raises(Invalid, match="another dataset"):
        opened(over, [lea], Plan(), result_set=results.default(other))


# The draw made again ------------------------------------------------------------------------------------

PLANS = [
    Plan(number=3, correct=2, naming=Naming.REPLACE),
    Plan(kind=Kind.RANDOM, number=20),
    Plan(kind=Kind.LABEL, number=5, each_detector=True),
    Plan(kind=Kind.DISAGREEMENT, number=7, agreeing=4, naming=Naming.REPLACE),
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: str(plan.kind))
def test_a_draw_is_repeated_byte_for_byte(over: Dataset, lea: User, plan: Plan) -> None:
    row = ValidationSet.objects.get(pk=opened(over, [lea], plan, seed=None).pk)
    made = validation.repeat(validation_set=row)
    assert made.same, made.reason
    told = json.loads(made.canonical)
    assert told["seed"] == row.seed
    drawn = {
        (f"{name}/{item}/{turn}", stratum, probability)
        for name, item, turn, stratum, probability in row.items.values_list(
            "response__dialogue__run__model__name",
            "response__dialogue__item__key",
            "response__turn",
            "stratum",
            "inclusion_probability",
        )
    }
    assert {(key, " / ".join(stratum), probability) for key, stratum, probability in told["drawn"]} == drawn


def test_a_repeat_says_what_is_not_the_same(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(number=3))
    late = factories.dataset_item(over)
    factories.answers(Dialogue.objects.create(run=Run.objects.order_by("id")[0], item=late, state="complete"), 10)
    assert validation.repeat(validation_set=row).reason == "91 answers could be drawn now, 84 then."
    ValidationSet.objects.filter(pk=row.pk).update(seed=2)
    row.refresh_from_db()
    assert not validation.repeat(validation_set=row).same


def test_a_task_that_shows_another_answer_than_was_drawn_is_found(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan(number=3))
    item = row.items.order_by("id")[0]
    taken = row.items.values("response")
    row.items.filter(pk=item.pk).update(response=Response.objects.filter(turn=4).exclude(pk__in=taken)[0])
    assert validation.repeat(validation_set=row).reason.startswith("1 tasks of the set are not in it")


def test_a_set_that_does_not_say_how_it_was_drawn_is_refused(over: Dataset, lea: User) -> None:
    row = opened(over, [lea], Plan())
    row.design = {}
    with pytest.raises(Invalid, match="not known"):
        validation.repeat(validation_set=row)


@pytest.mark.django_db(transaction=True)
def test_another_lab_repeats_draws_from_the_release(over: Dataset, lea: User, tmp_path: Path) -> None:
    ada, here = factories.person("ada"), {}
    for number, plan in enumerate((PLANS[0], PLANS[2])):
        row = opened(over, [lea], plan, seed=31, name=f"Round {number}")
        mine = row.label_set.assignments.get()
        for task in row.label_set.tasks.all()[1:]:  # one stays without a label, so the release has no row of it
            labels.record(assignment=mine, task=task, detect=True, client=uuid.uuid4(), sequence=1)
        validation.close(validation_set=row, by=ada)
        here[row.label_set.name] = validation.repeat(validation_set=row).canonical
    release_export.export(dataset=over, folder=tmp_path / "out")
    call_command("flush", interactive=False, verbosity=0)
    call_command("import_release", str(tmp_path / "out"))
    there = {row.label_set.name: validation.repeat(validation_set=row) for row in ValidationSet.objects.all()}
    assert {name: made.canonical for name, made in there.items()} == here
    assert [made.reason for made in there.values()] == ["", ""]


# Commands -----------------------------------------------------------------------------------------------


def test_the_command_previews_and_draws_nothing(over: Dataset, lea: User) -> None:
    out = StringIO()
    call_command("open_validation", "Pilot", "--preview", "--per-cell", "12", "--naming", "replace", stdout=out)
    told = out.getvalue()
    assert "66 of 84 answers would be drawn" in told
    assert "12 of them all name a model or its maker (replace)." in told
    assert "Model 0 / identity: 10 of 14, 2 short of 12, 4 named" in told
    assert not LabelSet.objects.exists()


def test_the_command_takes_every_design_and_the_draw_is_repeated(over: Dataset, lea: User, tmp_path: Path) -> None:
    call_command(
        *("open_validation", "Pilot", "--design", "disagreement", "--disagreeing", "5", "--agreeing", "3"),
        *("--correct", "2", "--mode", "pool", "--labels-per-task", "3", "--name", "Round", "--result-set"),
        *("Automatic 1" if results.default(over) else "", "--annotators", "lea"),
    )
    row = ValidationSet.objects.get()
    assert (row.label_set.mode, row.design["drawn"]) == ("pool", 5 + 3 + 2 * 2)
    out, file = StringIO(), tmp_path / "draw.json"
    call_command("repeat_draw", "Round", "--out", str(file), stdout=out)
    assert "byte for byte" in out.getvalue()
    assert len(json.loads(file.read_bytes())["drawn"]) == 12
    ValidationSet.objects.update(seed=row.seed + 1)
    with pytest.raises(CommandError, match="another draw"):
        call_command("repeat_draw", "Round")
    with pytest.raises(CommandError, match="no validation set named Other"):
        call_command("repeat_draw", "Other")


# The API ------------------------------------------------------------------------------------------------


def client_of(who: User) -> Client:
    client = Client()
    client.force_login(who)
    return client


def test_the_api_previews_and_draws_like_the_pages(over: Dataset, ada: User, lea: User) -> None:
    client = client_of(ada)
    plan = {"dataset": over.pk, "design": "random", "total": 10}
    told = client.post("/api/v1/validation-sets/preview/", plan, "application/json").json()
    assert (told["frame"], told["drawn"], told["named"]) == (84, 10, 12)
    assert told["strata"] == [
        {"stratum": ["all answers"], "size": 84, "named": 12, "wanted": 10, "drawn": 10, "probability": 10 / 84}
    ]
    assert not LabelSet.objects.exists()
    opening = {**plan, "annotators": [lea.pk], "client": str(uuid.uuid4()), "seed": 987654321}
    replies = [client.post("/api/v1/validation-sets/", opening, "application/json") for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201]
    assert replies[0].json() == replies[1].json()
    assert LabelSet.objects.count() == 1
    assert "987654321" not in replies[0].text
    assert replies[0].json()["naming"]["found"] == 12


def test_the_api_refuses_with_a_sentence(over: Dataset, ada: User, lea: User) -> None:
    client = client_of(ada)
    body = {"dataset": over.pk, "annotators": [ada.pk], "seed": 4}
    reply = client.post("/api/v1/validation-sets/", body, "application/json")
    assert reply.status_code == 400
    assert "seed must not be known to you" in reply.json()["detail"]
    reply = client.post("/api/v1/validation-sets/", {**body, "design": "best"}, "application/json")
    assert (reply.status_code, list(reply.json())) == (400, ["design"])


def test_the_api_draws_for_authors_alone(over: Dataset, lea: User, rita: User) -> None:
    body = {"dataset": over.pk, "annotators": [lea.pk]}
    for who in (lea, rita):
        for path in ("/api/v1/validation-sets/", "/api/v1/validation-sets/preview/"):
            assert client_of(who).post(path, body, "application/json").status_code == 404
    assert Client().post("/api/v1/validation-sets/", body, "application/json").status_code in {401, 403}
    assert not LabelSet.objects.exists()
