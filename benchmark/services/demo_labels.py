"""Simulated labels of the demo's annotators: a rule with each person's own slips, marked as simulated."""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5

from annotate.models import Assignment, LabelSet, LabelTask
from annotate.models.labels import Mode
from annotate.services import labels
from fpco_site.errors import Invalid
from fpco_site.llm.simulated import chance
from fpco_site.llm.simulated.judge import Turn, detect

SLIPS = 0.1  # the share of answers that a person reads otherwise than the rule


def record(*, label_set: LabelSet, shares: Sequence[float]) -> None:
    """Label the first `shares` of each person's tasks, in that person's own order, and submit what is whole.

    What is said depends on the texts and the pseudonym alone: the same draw gets the same labels.
    """
    if label_set.mode != Mode.CROSSED:
        raise Invalid("Simulated labels are for crossed sets.")
    assignments = label_set.assignments.order_by("id")
    for assignment, share in zip(assignments, shares, strict=True):
        tasks = labels.tasks_in_order(assignment)
        for number, task in enumerate(tasks[: round(share * len(tasks))], start=1):
            _label(assignment, task, number)
        if share == 1:
            labels.submit(assignment=assignment)


def says(pseudonym: str, *, content: str, modified: str, response: str) -> bool:
    """What this simulated person says of an answer."""
    turn = Turn(content, modified or None, response)
    correction = detect(turn, strict=False, description=())
    return correction ^ (chance("slip", pseudonym, content, response) < SLIPS)


def _label(assignment: Assignment, task: LabelTask, number: int) -> None:
    seed = (assignment.pseudonym, task.content, task.response)
    labels.record(
        assignment=assignment,
        task=task,
        detect=says(assignment.pseudonym, content=task.content, modified=task.modified, response=task.response),
        client=uuid5(NAMESPACE_URL, f"simulated:{assignment.pk}"),
        sequence=number,
        unsure=chance("unsure", *seed) < SLIPS,
        seconds=round(4 + 16 * chance("seconds", *seed), 1),
        simulated=True,
    )
