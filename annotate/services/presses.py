"""A press of a key on the labelling page: read strictly, stored at once."""

import math
import uuid
from collections.abc import Mapping
from typing import Annotated

import msgspec

from annotate.models import Assignment, Label, LabelTask, User
from annotate.services import guidelines, label_rows, labels
from fpco_site import turns
from fpco_site.errors import Invalid

BROKEN = "The page sent a broken label."
_OFF = {"", "0", "false", "False"}


class Press(msgspec.Struct):
    """One press: the answer, how sure, and which press of which page it is.

    `guideline` is the version of the guidelines on the page, `shown` the answer that it shows meanwhile.
    """

    detect: bool
    client: uuid.UUID
    sequence: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    unsure: bool = False
    comment: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    seconds: float | None = None
    guideline: Annotated[int, msgspec.Meta(ge=1, le=2**15 - 1)] | None = None
    shown: uuid.UUID | None = None


def read(sent: Mapping[str, str]) -> Press:
    """The press that a page sent. Raises Invalid for anything else."""
    if sent.get("detect") not in {"0", "1"}:
        raise Invalid("Choose one of the two answers.")
    values = {name: sent[name].strip() for name in Press.__struct_fields__ if sent.get(name, "").strip()}
    try:
        press = msgspec.convert({**values, "unsure": sent.get("unsure", "") not in _OFF}, Press, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(BROKEN) from error
    if not math.isfinite(press.seconds or 0.0):
        raise Invalid(BROKEN)
    return press


@turns.atomic()
def store(*, person: User, label_set: int, task: uuid.UUID, press: Press) -> Assignment:
    """Store a press of this person, as `labels.record` does; returns their assignment.

    Raises
    ------
    LabelTask.DoesNotExist
        Where the task is not of a set that this person labels.
    Conflict, Invalid
        As `labels.record`; Invalid for guidelines that the set does not have, too.
    """
    held = label_rows.hold(label_set=label_set, person=person.pk)
    if held is None or task not in labels.places_of(held):
        raise LabelTask.DoesNotExist
    made = Label(
        task_id=task,
        detect=press.detect,
        unsure=press.unsure,
        comment=press.comment,
        seconds=press.seconds,
        guideline=guidelines.seen(held, press.guideline) if press.guideline else None,
        client=press.client,
        sequence=press.sequence,
    )
    labels.put(held=held, made=made)
    return held
