"""Human validation: what is drawn, what annotators get of it, and how far raters agree."""

import uuid
from collections import Counter
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Dataset, LabelSet, User
from annotate.services import labels
from benchmark import frames_agreement
from benchmark.models import ValidationItem, ValidationSet
from benchmark.services import results, validation
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.db

Ran = Callable[..., Dataset]


@pytest.fixture
def ran(db: None) -> Ran:
    """A dataset over which two models answered every turn, with labels of two detectors."""

    def make(*, items: int = 6, answered: int = 10, models: int = 2) -> Dataset:
        over = factories.dataset(items=items)
        detectors = [factories.detector("strict"), factories.detector("lenient")]
        for number in range(models):
            run = factories.run(
                dataset=over, model=factories.model(f"Model {number}"), answered=answered, state="complete"
            )
            for detector in detectors:
                factories.detector_labels(detector, run, lambda response: response.turn % 2 == 0)
        return over

    return make


def opened(over: Dataset, people: list[User], **more: Any) -> ValidationSet:
    return validation.open(**{"dataset": over, "annotators": people, "by": None, "per_cell": 2, "seed": 1, **more})


def drawn(row: ValidationSet) -> list[tuple[str, str, int, float]]:
    items = row.items.select_related("response__dialogue__run__model", "response__dialogue__item").order_by("id")
    return [
        (
            item.stratum,
            item.response.dialogue.item.key,
            item.response.turn,
            item.inclusion_probability,
        )
        for item in items
    ]


def test_so_many_of_each_model_and_class_are_drawn_from_false_premise_turns(ran: Ran, lea: User) -> None:
    row = opened(ran(), [lea])
    assert Counter(stratum for stratum, *_ in drawn(row)) == {
        f"Model {number} / {place}": 2 for number in (0, 1) for place in ("identity", "attribute", "location")
    }
    assert {turn for _, _, turn, _ in drawn(row)} <= set(range(4, 11))
    # Two items a class, seven false turns each: 2 of 14.
    assert {probability for *_, probability in drawn(row)} == {2 / 14}
    assert row.design["frame"] == 2 * 6 * 7
    assert row.design["shortfalls"] == []


def test_the_same_seed_draws_the_same_answers_and_another_draws_others(ran: Ran, lea: User) -> None:
    over = ran()
    first, again, other = (opened(over, [lea], seed=seed) for seed in (1, 1, 2))
    assert drawn(first) == drawn(again)
    assert drawn(first) != drawn(other)


def test_a_task_holds_the_class_the_questions_and_the_text_of_its_response(ran: Ran, lea: User) -> None:
    row = opened(ran(), [lea])
    for item in ValidationItem.objects.select_related("task", "response__dialogue__item"):
        turn = item.response.dialogue.item.turns.get(number=item.response.turn)
        assert (item.task.premise_class, item.task.content, item.task.modified, item.task.response) == (
            item.response.dialogue.item.premise_class,
            turn.content,
            turn.modified,
            item.response.text,
        )
    assert row.label_set.tasks.filter(image__isnull=False).count() == 0
    assert opened(row.label_set.dataset, [lea], show_picture=True).label_set.tasks.filter(image=None).count() == 0


def test_a_cell_that_holds_too_few_is_taken_whole_and_reported(ran: Ran, lea: User) -> None:
    row = opened(ran(items=3, answered=5, models=1), [lea], per_cell=6)
    assert Counter(stratum for stratum, *_ in drawn(row)) == {
        f"Model 0 / {place}": 2 for place in ("identity", "attribute", "location")
    }
    assert row.design["shortfalls"] == [
        {"stratum": ["Model 0", place], "available": 2, "wanted": 6} for place in ("attribute", "identity", "location")
    ]
    assert {probability for *_, probability in drawn(row)} == {1.0}


def test_only_turns_with_an_answer_are_drawn(ran: Ran, lea: User) -> None:
    with pytest.raises(Invalid, match="nothing to label"):
        opened(ran(answered=3), [lea])
    assert not LabelSet.objects.exists()


def test_a_run_that_has_not_ended_is_not_drawn_from(ran: Ran, lea: User) -> None:
    over = ran(models=1)
    factories.run(dataset=over, model=factories.model("Late"), answered=10, state="running")
    with pytest.raises(Conflict, match="The run of Late is running"):
        opened(over, [lea])


def test_without_a_run_there_is_nothing_to_draw_from(lea: User) -> None:
    with pytest.raises(Invalid, match="No model has run"):
        opened(factories.dataset(), [lea])


def test_a_missing_picture_is_refused_where_pictures_are_shown(lea: User) -> None:
    over = factories.dataset(items=0)
    factories.dataset_item(over, image=None)
    factories.run(dataset=over, answered=10, state="complete")
    with pytest.raises(Invalid, match="pictures"):
        opened(over, [lea], show_picture=True)


def test_the_name_says_nothing_and_is_free(ran: Ran, lea: User) -> None:
    over = ran()
    names = [opened(over, [lea]).label_set.name for _ in range(2)]
    assert names == [f"Validation 1 of {over.name}", f"Validation 2 of {over.name}"]


def test_the_command_opens_a_set_and_says_what_it_drew(ran: Ran, lea: User, lou: User) -> None:
    over, out = ran(), StringIO()
    call_command(
        "open_validation", over.name, "--per-cell", "2", "--seed", "1", "--annotators", "lea", "lou", stdout=out
    )
    assert "12 answers for lea, lou" in out.getvalue()
    row = ValidationSet.objects.get()
    assert (row.seed, row.per_cell) == (1, 2)
    assert list(row.label_set.assignments.values_list("pseudonym", "person__username")) == [
        ("H1", "lea"),
        ("H2", "lou"),
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--annotators", "lea"], "There is no dataset named 'nowhere'"),
        (["DATASET", "--annotators", "nobody"], "There is nobody named 'nobody'."),
        (["DATASET", "--annotators", "lea", "--per-cell", "0"], "at least one answer"),
        (["DATASET", "--annotators", "lea", "lea"], "chosen once"),
    ],
)
def test_the_command_refuses_with_one_sentence(ran: Ran, lea: User, arguments: list[str], sentence: str) -> None:
    over = ran()
    with pytest.raises(CommandError, match=sentence):
        call_command("open_validation", *(over.name if part == "DATASET" else part for part in arguments))
    assert not LabelSet.objects.exists()


# Agreement ------------------------------------------------------------------------------------------


def say(row: ValidationSet, who: User, verdicts: list[bool]) -> None:
    mine = row.label_set.assignments.get(person=who)
    for item, detect in zip(row.items.select_related("task").order_by("id"), verdicts, strict=False):
        labels.record(assignment=mine, task=item.task, detect=detect, client=uuid.uuid4(), sequence=1)


def test_raters_are_people_under_pseudonyms_and_the_primary_pair(ran: Ran, lea: User, lou: User) -> None:
    row = opened(ran(), [lea, lou])
    found = frames_agreement.frame(row)
    assert [rater.name for rater in found.raters] == ["H1", "H2", "strict", "lenient"]
    assert [(rater.kind, rater.simulated, rater.given) for rater in found.raters] == [
        ("human", False, 0),
        ("human", False, 0),
        ("detector", True, 12),
        ("detector", True, 12),
    ]
    assert len(frames_agreement.pairs(found)) == 6


def test_kappa_of_two_people_with_its_arithmetic(ran: Ran, lea: User, lou: User) -> None:
    row = opened(ran(), [lea, lou])
    # Of 12: both yes 4, only H1 yes 2, only H2 yes 1, both no 5. p_o = 9/12, p_e = (6*5 + 6*7)/144 = 1/2, kappa = 1/2.
    say(row, lea, [True] * 6 + [False] * 6)
    say(row, lou, [True] * 4 + [False] * 2 + [True] + [False] * 5)
    pair = frames_agreement.pairs(frames_agreement.frame(row))[0].levels["overall"]
    assert (pair.both, pair.first_only, pair.second_only, pair.neither) == (4, 2, 1, 5)
    assert pair.agreement.value == pytest.approx(9 / 12)
    assert pair.kappa.value == pytest.approx(0.5)


def test_a_missing_label_is_left_out_and_counted(ran: Ran, lea: User, lou: User) -> None:
    row = opened(ran(), [lea, lou])
    say(row, lea, [True] * 12)
    say(row, lou, [True] * 5)
    pair = frames_agreement.pairs(frames_agreement.frame(row))[0].levels["overall"]
    assert (pair.n, pair.left_out.n, pair.left_out.second_missing) == (5, 7, 7)
    assert pair.kappa.value is None
    assert "one and the same label" in pair.kappa.reason


def test_the_latest_label_of_a_person_counts(ran: Ran, lea: User) -> None:
    row = opened(ran(), [lea])
    say(row, lea, [True] * 12)
    say(row, lea, [False] * 12)
    assert frames_agreement.frame(row).raters[0].labels.tolist() == [0] * 12


def test_classes_add_up_to_overall(ran: Ran, lea: User, lou: User) -> None:
    row = opened(ran(), [lea, lou])
    say(row, lea, [True, False] * 6)
    say(row, lou, [True, True, False] * 4)
    for pair in frames_agreement.pairs(frames_agreement.frame(row)):
        overall, *by_class = pair.levels.values()
        assert overall.n == sum(level.n for level in by_class)
        assert overall.both == sum(level.both for level in by_class)


def test_closing_locks_everybody(ran: Ran, lea: User, ada: User) -> None:
    row = opened(ran(), [lea])
    assert validation.close(validation_set=row, by=ada).label_set.state == "closed"
    with pytest.raises(Conflict):
        say(row, lea, [True])
    assert results.default(row.label_set.dataset) == row.result_set
