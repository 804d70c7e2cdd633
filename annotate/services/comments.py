"""What authors say to each other about an item or one line of it."""

from collections import Counter
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotate.models import Comment, Item, ReviewRules, User
from annotate.services import items, reviews
from fpco_site.errors import Conflict, Invalid


@transaction.atomic
def add(*, item: Item, version: int, text: str, by: User, turn: int | None = None, field: str = "") -> Comment:
    """Say something about the version that was read: about the item, or the line that `turn` and `field` name."""
    item = items.locked(item)
    if version > item.version:
        raise Invalid(f"This item has no version {version}.")
    if turn is not None and not item.turns.filter(number=turn).exists():
        raise Invalid(f"This item has no turn {turn}.")
    row = Comment(item=item, version=version, turn=turn, field=field, text=text.strip(), by=by)
    try:
        row.full_clean()
    except ValidationError as error:
        raise Invalid("Say something." if not row.text else " ".join(error.messages)) from error
    row.save()
    return row


@transaction.atomic
def resolve(*, comment: Comment, by: User) -> Comment:
    """Say that it is settled; a comment stays where it was said."""
    comment = Comment.objects.select_for_update().get(pk=comment.pk)
    if comment.resolved_at is None:
        comment.resolved_by, comment.resolved_at = by, timezone.now()
        comment.save(update_fields=["resolved_by", "resolved_at"])
    return comment


@transaction.atomic
def open_again(*, comment: Comment, by: User) -> Comment:
    """Take it back that a comment is settled."""
    comment = Comment.objects.select_for_update().get(pk=comment.pk)
    if comment.resolved_at is None:
        raise Conflict("This comment is open already.")
    comment.resolved_by = comment.resolved_at = None
    comment.save(update_fields=["resolved_by", "resolved_at"])
    return comment


def visible(item: Item, person: User, rule: ReviewRules) -> list[Comment]:
    """The comments on an item that this person may see, in the order in which they were made.

    Of an item that waits for two independent verdicts, those of others on the version under review are not shown.
    """
    rows = list(item.comments.select_related("by", "resolved_by").order_by("id"))
    if not reviews.is_pair(item, rule):
        return rows
    return [row for row in rows if row.by_id == person.pk or row.version < item.version]


def open_counts(rows: Iterable[Item], person: User, rule: ReviewRules) -> dict[int, int]:
    """How many open comments that this person may see each of these items has; items without one are left out."""
    shown = {item.pk: item for item in rows}
    pairs = reviews.pairs_among(shown.values(), rule)
    counts: Counter[int] = Counter()
    for row in Comment.objects.filter(item__in=shown, resolved_at=None).only("item_id", "by_id", "version"):
        hidden = row.item_id in pairs and row.by_id != person.pk and row.version >= shown[row.item_id].version
        counts[row.item_id] += not hidden
    return {pk: n for pk, n in counts.items() if n}


def of_line(comments: Iterable[Comment], turn: int | None, field: str) -> list[Comment]:
    """Those about one text of the item."""
    return [comment for comment in comments if (comment.turn, comment.field) == (turn, field)]
