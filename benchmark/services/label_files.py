"""What of a validation set goes out as a file, and to whom (design section 4)."""

from annotate.models import Assignment, User
from annotate.models.labels import LabelSetState
from annotate.services import interchange
from benchmark.models import DetectorLabel, ValidationSet
from benchmark.services import blindness
from fpco_site.errors import Conflict

type Predictions = dict[str, list[tuple[str, bool]]]


def own_assignment(validation_set: ValidationSet, user: User) -> Assignment | None:
    """This person's part in the set."""
    return validation_set.label_set.assignments.select_related("label_set").filter(person=user).first()


def export(*, validation_set: ValidationSet, kind: str, user: User | None, page: str) -> str:
    """The file that this person may take: own labels while one is blind, everybody's with open eyes.

    Verdicts of detectors are in it only when the set is closed. Without a person (a command on the server), nothing
    comes out of a set that is open.

    Raises
    ------
    Withheld
        For somebody blind who has no part in the set.
    Conflict
        Without a person, while the set is open.
    """
    label_set = validation_set.label_set
    closed = label_set.state == LabelSetState.CLOSED
    if user is None and not closed:
        raise Conflict(f"{label_set.name} is open: say for whom the file is, who then gets what they may see.")
    if user is not None and blindness.withheld_from(user, label_set.dataset):
        mine = own_assignment(validation_set, user)
        if mine is not None:
            return interchange.write(interchange.own(mine), kind, label_set=label_set)
    if user is not None:
        blindness.require_open_eyes(user=user, dataset=label_set.dataset, page=page)
    found = _predictions(validation_set) if closed else None
    return interchange.write(interchange.everybodys(label_set), kind, label_set=label_set, predictions=found)


def _predictions(validation_set: ValidationSet) -> Predictions:
    """What the detectors of the result set said of each task's answer, in their order."""
    found: Predictions = {}
    drawn = validation_set.items.values("response")
    answers = dict(validation_set.items.values_list("response", "task"))
    for row in validation_set.result_set.held_detectors:
        name = f"{row.detector} (simulated)" if row.detector.simulated else str(row.detector)
        verdicts = DetectorLabel.objects.filter(detector=row.detector, response__in=drawn)
        for response, detect in verdicts.order_by("response").values_list("response", "detect"):
            found.setdefault(str(answers[response]), []).append((name, detect))
    return found


def may_import(*, validation_set: ValidationSet, user: User) -> Assignment | None:
    """Whose labels this person may bring in: None is everybody's; one who is blind brings in their own alone.

    How a file compares with stored labels tells what these are.

    Raises
    ------
    Withheld
        For somebody blind who has no part in the set.
    """
    dataset = validation_set.label_set.dataset
    if not blindness.withheld_from(user, dataset):
        return None
    mine = own_assignment(validation_set, user)
    if mine is None:
        blindness.require_unblinded(user=user, dataset=dataset, page="import of labels")
    return mine
