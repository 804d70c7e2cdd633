"""Deciding what annotators said differently: what is listed, who may decide, and that nothing is overwritten."""

import uuid

import pytest
from django.db import DatabaseError, transaction

from annotate.models import Adjudication, Label, LabelSet, LabelTask, User
from annotate.services import adjudication, labels
from fpco_site.errors import Conflict, Invalid, Withheld
from tests import factories

pytestmark = pytest.mark.db

Verdicts = list[bool | None]


@pytest.fixture
def closed(lea: User, lou: User, ada: User) -> LabelSet:
    """Lea and Lou agree on the first task, differ on the next two, and only Lea labelled the last."""
    return made([lea, lou], [[True, True], [True, False], [False, True], [True, None]], by=ada)


def made(people: list[User], verdicts: list[Verdicts], *, by: User, **more: object) -> LabelSet:
    row = factories.label_set(factories.dataset(), people, tasks=len(verdicts), **more)
    for task, said in zip(in_order(row), verdicts, strict=True):
        for person, detect in zip(people, said, strict=True):
            if detect is not None:
                say(row, task, person, detect)
    return labels.close(label_set=row, by=by)


def in_order(row: LabelSet) -> list[LabelTask]:
    return sorted(row.tasks.all(), key=lambda task: task.response)


def say(row: LabelSet, task: LabelTask, person: User, detect: bool, comment: str = "") -> None:
    mine = row.assignments.get(person=person)
    labels.record(assignment=mine, task=task, detect=detect, comment=comment, client=uuid.uuid4(), sequence=1)


def decide(task: LabelTask, by: User, detect: bool = True, **more: object) -> Adjudication:
    return adjudication.decide(**{"task": task, "detect": detect, "reason": "It says so.", "by": by, **more})


def test_only_what_differs_is_listed_by_the_labels_that_count(closed: LabelSet) -> None:
    _, second, third, _ = in_order(closed)
    assert set(adjudication.docket(closed).order) == {second.pk, third.pk}


def test_a_label_that_was_changed_to_agree_is_no_disagreement(lea: User, lou: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=1)
    task = row.tasks.get()
    for person, detect in ((lea, True), (lou, False), (lou, True)):
        say(row, task, person, detect)
    assert adjudication.docket(labels.close(label_set=row, by=ada)).total == 0


def test_in_a_pool_one_of_three_is_a_disagreement_and_so_is_a_tie(lea: User, lou: User, ben: User, ada: User) -> None:
    verdicts: list[Verdicts] = [[True, True, False], [None, True, False], [None, None, False], [False, False, False]]
    row = made([lea, lou, ben], verdicts, by=ada, mode="pool")
    assert set(adjudication.docket(row).order) == {task.pk for task in in_order(row)[:2]}


def test_the_order_is_the_same_for_everybody_and_not_that_of_the_rows(lea: User, lou: User, ada: User) -> None:
    row = made([lea, lou], [[True, False]] * 12, by=ada)
    first, again = adjudication.docket(row).order, adjudication.docket(row).order
    assert first == again
    assert first != list(row.tasks.order_by("pk").values_list("pk", flat=True))
    assert first != [task.pk for task in in_order(row)]


def test_both_sides_are_told_without_names(lea: User, lou: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=1)
    say(row, row.tasks.get(), lea, True, "a silent repair")
    say(row, row.tasks.get(), lou, False)
    labels.close(label_set=row, by=ada)
    assert adjudication.said_of(row.tasks.get()) == adjudication.Said(1, 1, ("a silent repair",), ())


def test_a_third_person_decides_with_a_reason_beside_the_labels(closed: LabelSet, ada: User) -> None:
    task = in_order(closed)[1]
    stored = list(Label.objects.values_list("pk", "detect"))
    made = decide(task, ada, reason="  'Not a dog' corrects it. ")
    assert (made.detect, made.reason, made.together, made.decided_by) == (True, "'Not a dog' corrects it.", False, ada)
    assert list(Label.objects.values_list("pk", "detect")) == stored
    found = adjudication.docket(closed)
    assert (found.done, found.total, found.next_after(task.pk)) == (1, 2, in_order(closed)[2].pk)


def test_the_annotators_decide_together_and_never_as_a_third_person(closed: LabelSet, lea: User, ada: User) -> None:
    task = in_order(closed)[1]
    with pytest.raises(Invalid, match="together"):
        decide(task, lea)
    assert decide(task, lea, together=True).together
    with pytest.raises(Invalid, match="as a third person"):
        decide(in_order(closed)[2], ada, together=True)


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 2001])
def test_a_decision_needs_a_reason_that_can_be_read(closed: LabelSet, ada: User, reason: str) -> None:
    with pytest.raises(Invalid, match=r"(?i)reason"):
        decide(in_order(closed)[1], ada, reason=reason)
    assert not Adjudication.objects.exists()


def test_nothing_is_decided_in_an_open_set_or_where_all_agree(
    closed: LabelSet, lea: User, lou: User, ada: User
) -> None:
    with pytest.raises(Conflict, match="nothing to decide"):
        decide(in_order(closed)[0], ada)
    still_open = factories.label_set(factories.dataset(), [lea, lou], tasks=1)
    say(still_open, still_open.tasks.get(), lea, True)
    say(still_open, still_open.tasks.get(), lou, False)
    with pytest.raises(Conflict, match="when the set is closed"):
        decide(still_open.tasks.get(), ada)


def test_a_reader_and_a_person_who_left_do_not_decide(closed: LabelSet, rita: User, ben: User) -> None:
    ben.is_active = False
    for who in (rita, ben):
        with pytest.raises(Invalid, match="can't decide"):
            decide(in_order(closed)[1], who)


def test_who_labels_another_set_over_the_dataset_is_refused_until_that_is_locked(closed: LabelSet, ada: User) -> None:
    other = factories.label_set(closed.dataset, [ada])
    with pytest.raises(Withheld):
        decide(in_order(closed)[1], ada)
    assert adjudication.dockets_for(ada) == []
    labels.close(label_set=other, by=ada)
    assert decide(in_order(closed)[1], ada)
    assert [found.label_set for found in adjudication.dockets_for(ada)] == [closed]


def test_another_decision_is_a_new_row_and_the_latest_counts(closed: LabelSet, ada: User) -> None:
    task = in_order(closed)[1]
    first = decide(task, ada)
    second = decide(task, ada, detect=False, reason="On second thoughts it hedges.", seen=first.pk)
    assert adjudication.docket(closed).decisions == {task.pk: second}
    assert Adjudication.objects.count() == 2
    with pytest.raises(DatabaseError, match="can not be changed"), transaction.atomic():
        Adjudication.objects.filter(pk=first.pk).update(detect=False)


def test_the_same_decision_twice_is_one_row(closed: LabelSet, ada: User) -> None:
    assert decide(in_order(closed)[1], ada) == decide(in_order(closed)[1], ada)


def test_two_people_who_decide_at_once_do_not_overrule_each_other_unseen(
    closed: LabelSet, ada: User, ben: User
) -> None:
    task = in_order(closed)[1]
    decide(task, ada)
    with pytest.raises(Conflict, match="in the meantime"):
        decide(task, ben, detect=False)
    assert Adjudication.objects.get().decided_by == ada


def test_undo_goes_back_to_the_decision_before(closed: LabelSet, ada: User) -> None:
    first, second = (LabelTask.objects.get(pk=task) for task in adjudication.docket(closed).order)
    decide(first, ada)
    decide(second, ada)
    found = adjudication.docket(closed)
    assert (found.last_before(), found.last_before(second.pk), found.last_before(first.pk)) == (
        second.pk,
        first.pk,
        None,
    )
    assert found.next_after() is None
