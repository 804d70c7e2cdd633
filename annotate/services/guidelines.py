"""A set's guidelines: a new version is added, never rewritten, and each annotator hears of it."""

from datetime import datetime
from functools import lru_cache

from django.db import transaction

from annotate.models import Assignment, Guideline, LabelSet, User
from annotate.models.labels import LabelSetState
from fpco_site.errors import Conflict, Invalid


@transaction.atomic
def revise(*, label_set: LabelSet, text: str, change: str, base: int, by: User) -> Guideline:
    """Add the version after `base`, the one that `text` was written over.

    Labels that exist keep the version they were made under; each annotator reads `change` on the labelling page.

    Raises
    ------
    Conflict
        When the set is closed, or somebody else has added a version since `base`.
    Invalid
        Without a text or a change in words, or where the text is that of `base`.
    """
    locked = LabelSet.objects.select_for_update().get(pk=label_set.pk)
    if locked.state == LabelSetState.CLOSED:
        raise Conflict("This set is closed; its guidelines stay as they are.")
    last = latest(locked)
    newest = last.version if last else 0
    if newest != base:
        raise Conflict(
            f"Version {newest} was written meanwhile. Your text is kept below: look at theirs, then save again."
        )
    text, change = _plain(text), change.strip()
    if not text.strip():
        raise Invalid("Guidelines need a text.")
    if not change:
        raise Invalid("Say what changed: each annotator reads it.")
    if last and text == _plain(last.text):
        raise Invalid("Nothing in the text has changed.")
    return Guideline.objects.create(label_set=locked, version=newest + 1, text=text, change=change, by=by)


def _plain(text: str) -> str:
    """The text with the line ends of files; a browser sends its own."""
    return text.replace("\r\n", "\n").strip("\n")


def latest(label_set: LabelSet) -> Guideline | None:
    """The version that holds now."""
    return Guideline.objects.filter(label_set=label_set).order_by("version").last()


def newest_version(label_set: LabelSet) -> int | None:
    """The number of the version that holds now."""
    rows = Guideline.objects.filter(label_set=label_set).order_by("-version")
    return rows.values_list("version", flat=True).first()


def seen(assignment: Assignment, version: int) -> Guideline:
    """The version that a page showed to this person. Raises Invalid where their set has none of that number."""
    try:
        return _version(assignment.label_set_id, assignment.label_set.opened_at, version)
    except Guideline.DoesNotExist:
        raise Invalid("The page showed guidelines that this set does not have. Reload it and choose again.") from None


@lru_cache(maxsize=256)
def _version(label_set: int, opened_at: datetime, version: int) -> Guideline:
    """Kept, because a version is never rewritten and every press names one."""
    return Guideline.objects.get(label_set=label_set, version=version)


def unread(assignment: Assignment) -> list[Guideline]:
    """Versions after the first that this person has not yet read, oldest first; none once labels are locked."""
    if assignment.is_locked:
        return []
    read = assignment.guideline_read.version if assignment.guideline_read else 1
    return list(Guideline.objects.filter(label_set=assignment.label_set_id, version__gt=read).order_by("version"))


@transaction.atomic
def mark_read(*, assignment: Assignment, version: int) -> Assignment:
    """This person has read the guidelines up to `version`; what was read before stays read."""
    held = Assignment.objects.select_for_update(of=("self",)).select_related("guideline_read").get(pk=assignment.pk)
    guideline = seen(held, version)
    if held.guideline_read is None or held.guideline_read.version < version:
        held.guideline_read = guideline
        held.save(update_fields=["guideline_read"])
    return held
