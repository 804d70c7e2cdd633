"""What to look at before a dataset is frozen: rows that are fine, that need a tick, or that stop it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from django.core.exceptions import SuspiciousFileOperation
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate import licences, selectors
from annotate.models import Comment, Dataset, Draft, EditDraft, Image, Item, Protocol, Review, Turn, User
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.services import datasets, protocols, rules
from fpco_site.errors import Conflict, Invalid

NAMED = 8  # items that a row names; the count says how many there are
_CHUNK = 1 << 20
_READ = (
    "pk",
    "key",
    "image_id",
    "target_description",
    "modified_target_description",
    "image__author",
    "image__license",
    "image__license_url",
    "image__landing_url",
)
_GIVEN = {"verdict": Verdict.APPROVED, "withdrawn_at": None}


class _Row(NamedTuple):
    """What the checks read of an approved item and its picture; plain values, for there are a thousand."""

    pk: int
    key: str
    image_id: int
    target_description: str
    modified_target_description: str
    author: str
    license: str
    license_url: str
    landing_url: str


class Level(StrEnum):
    OK = "ok"
    LATER = "later"  # looked at in the freeze itself
    WARN = "warn"
    STOPS = "stops"


@dataclass(frozen=True)
class Check:
    """One line of the list. `keys` are the first items that it means, `count` how many there are."""

    code: str
    level: Level
    text: str
    count: int = 0
    keys: tuple[str, ...] = ()

    @property
    def ticket(self) -> str:
        """What a tick names: the count is in it, so that a tick never covers more than was read."""
        return f"{self.code}:{self.count}"


@transaction.atomic
def freeze(
    *,
    name: str,
    by: User | None,
    accepted: Collection[str] = (),
    accept_all: bool = False,
    protocol: Protocol | None = None,
) -> Dataset:
    """Freeze the approved items after all checks, with every file read and hashed again.

    Raises Conflict where a check stops it, and Invalid where a warning is not among `accepted`. The rows are
    kept with the dataset.
    """
    name = datasets.check_name(name)
    list(_approved().select_for_update().values_list("pk", flat=True))
    rows = checks(protocol=protocol, read_files=True)
    if stopping := [row for row in rows if row.level is Level.STOPS]:
        raise Conflict(" ".join(row.text for row in stopping))
    unseen = [row for row in rows if row.level is Level.WARN and row.ticket not in accepted]
    if unseen and not accept_all:
        raise Invalid(f"Not accepted yet: {' '.join(row.text for row in unseen)}")
    return datasets.freeze(
        name=name, by=by, protocol=protocol, only_approved=True, checks=[asdict(row) for row in rows]
    )


def checks(*, protocol: Protocol | None = None, read_files: bool = False) -> list[Check]:
    """All rows in the order of the page. `read_files` hashes the file of every picture, which takes its time."""
    plan = protocol or protocols.study()
    chosen = [_Row(*row) for row in _approved().order_by("key").values_list(*_READ)]
    if not chosen:
        return [
            Check("approved", Level.STOPS, "No item is approved yet, so there is nothing to freeze."),
            unfinished(),
        ]
    return [
        Check("approved", Level.OK, f"{_n(len(chosen), 'item is', 'items are')} approved.", len(chosen)),
        unfinished(),
        _quotas(plan),
        _incomplete(chosen, plan),
        _unreviewed(),
        _once_reviewed(),
        _comments(),
        _unsaved(),
        _simulated(),
        _licences(chosen),
        _facts("authors", chosen, "author", "names no author", "name no author"),
        _facts("landing_pages", chosen, "landing_url", "has no landing page", "have no landing page"),
        _near_duplicates(chosen),
        _set_aside(),
        _same_descriptions(chosen),
        _same_questions(),
        _files(chosen) if read_files else _files_later(chosen),
    ]


def _approved() -> QuerySet[Item]:
    return Item.objects.filter(parent=None, state=ItemState.APPROVED)


def _row(code: str, keys: Iterable[str], good: str, one: str, many: str, *, level: Level = Level.WARN) -> Check:
    """`good` where there are no keys; else the count with `one` or `many`."""
    found = list(keys)
    if not found:
        return Check(code, Level.OK, good)
    return Check(code, level, f"{_n(len(found), one, many)}.", len(found), tuple(found[:NAMED]))


def _n(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def unfinished() -> Check:
    """The items that are not approved, which a dataset leaves out."""
    now = datasets.readiness()
    if not now.unfinished:
        return Check("unfinished", Level.OK, "No item waits in draft or in review.")
    noun = "item is" if now.unfinished == 1 else "items are"
    text = f"{now.unfinished:,} {noun} not approved yet ({now.draft} in draft, {now.in_review} in review): left out."
    return Check("unfinished", Level.WARN, text, now.unfinished)


def _quotas(plan: Protocol) -> Check:
    counts = selectors.cell_counts(plan)
    off = [count for count in counts if count.approved != count.quota]
    if not off:
        return Check("quotas", Level.OK, f"All {len(counts)} cells hold {plan.per_cell} approved items.")
    verb = "does" if len(off) == 1 else "do"
    text = f"{len(off)} of {len(counts)} cells {verb} not hold exactly {plan.per_cell} approved items."
    return Check("quotas", Level.WARN, text, len(off))


def _incomplete(chosen: list[_Row], plan: Protocol) -> Check:
    """Approved items that lack a text; every one of them would make a dialogue with a hole."""
    turns = Turn.objects.filter(item__in=_approved(), number__lte=plan.turns).order_by()
    written = Count("pk", filter=~Q(content=""))
    rewritten = Count("pk", filter=Q(number__in=plan.false_turns) & ~Q(modified=""))
    rows = turns.values("item").annotate(written=written, rewritten=rewritten)
    whole = {row["item"] for row in rows if row["written"] == plan.turns and row["rewritten"] == len(plan.false_turns)}
    lacking = [
        item.key
        for item in chosen
        if item.pk not in whole or not item.target_description or not item.modified_target_description
    ]
    return _row(
        "complete",
        lacking,
        "Every approved item has all its texts.",
        "approved item lacks a text",
        "approved items lack a text",
        level=Level.STOPS,
    )


def _unreviewed() -> Check:
    """Approved items without an approval of the very version that would be frozen."""
    approval = Review.objects.filter(item=OuterRef("pk"), item_version=OuterRef("version"), **_GIVEN)
    keys = _approved().filter(~Exists(approval)).order_by("key").values_list("key", flat=True)
    return _row(
        "approvals",
        keys,
        "Each has a person's approval of the version that is frozen.",
        "approved item has no review of its present version on record",
        "approved items have no review of their present version on record",
        level=Level.STOPS,
    )


def _once_reviewed() -> Check:
    """Items that two people should review under the present rules and one has."""
    rule = rules.current()
    good = "Every item that two people review was approved by both."
    if not rule.second_share:
        return Check("second_reviews", Level.OK, good)
    same = Q(reviews__item_version=F("version"), **{f"reviews__{name}": value for name, value in _GIVEN.items()})
    rows = _approved().annotate(given=Count("reviews__reviewer", filter=same, distinct=True)).filter(given=1)
    return _row(
        "second_reviews",
        [item.key for item in rows.order_by("key").only("key") if rules.is_chosen(item, rule)],
        good,
        "item is to be reviewed by two people and was approved by one",
        "items are to be reviewed by two people and were approved by one",
    )


def _comments() -> Check:
    open_ones = Comment.objects.filter(item=OuterRef("pk"), resolved_at=None)
    return _row(
        "comments",
        _approved().filter(Exists(open_ones)).order_by("key").values_list("key", flat=True),
        "No comment on an approved item is open.",
        "approved item has an open comment",
        "approved items have an open comment",
    )


def _unsaved() -> Check:
    typed = EditDraft.objects.filter(item=OuterRef("pk"), texts__isnull=False)
    return _row(
        "unsaved",
        _approved().filter(Exists(typed)).order_by("key").values_list("key", flat=True),
        "Nobody has typed anything over an approved item that is not saved.",
        "approved item has an edit that somebody has not saved",
        "approved items have edits that somebody has not saved",
    )


def _simulated() -> Check:
    made_up = Draft.objects.filter(item=OuterRef("pk"), simulated=True, applied_at__isnull=False)
    keys = _approved().filter(Exists(made_up)).order_by("key").values_list("key", flat=True)
    return _row(
        "drafters",
        keys,
        "No text goes back to a simulated drafter.",
        "item was written from a simulated draft",
        "items were written from simulated drafts",
    )


def plain(item: Item) -> _Row:
    """What the checks read of an item that is at hand with its picture."""
    own = {name: getattr(item, name) for name in _Row._fields if hasattr(item, name)}
    return _Row(**own, **{name: getattr(item.image, name) for name in _Row._fields if name not in own})


def _licences(chosen: list[_Row]) -> Check:
    named = {(row.license, row.license_url) for row in chosen}
    open_ones = {pair for pair in named if licences.classify(*pair) is licences.Kind.OPEN}
    closed = [row.key for row in chosen if (row.license, row.license_url) not in open_ones]
    return _row(
        "licences",
        closed,
        "Every picture's licence lets a release carry its pixels.",
        "picture is left out of a release by its licence; its facts stay",
        "pictures are left out of a release by their licences; their facts stay",
    )


def _facts(code: str, chosen: list[_Row], name: str, one: str, many: str) -> Check:
    lacking = [row.key for row in chosen if not getattr(row, name)]
    good = {"author": "Every picture names its author.", "landing_url": "Every picture has its landing page."}[name]
    return _row(code, lacking, good, f"picture {one}", f"pictures {many}")


def _near_duplicates(chosen: list[_Row]) -> Check:
    keys = {item.image_id: item.key for item in chosen}
    pairs = selectors.open_pairs_among(keys) if selectors.open_pairs().exists() else []
    return _row(
        "near_duplicates",
        [f"{keys[pair.first_id]} and {keys[pair.second_id]}" for pair in pairs],
        "No two pictures wait for a decision whether they are the same.",
        "pair of pictures looks alike and is undecided",
        "pairs of pictures look alike and are undecided",
    )


def _set_aside() -> Check:
    """Items whose picture was set aside as a duplicate of another one."""
    return _row(
        "set_aside",
        _approved().exclude(image__duplicate_of=None).order_by("key").values_list("key", flat=True),
        "No picture was set aside as a duplicate.",
        "approved item has a picture that was set aside as a duplicate",
        "approved items have pictures that were set aside as duplicates",
        level=Level.STOPS,
    )


def _same_descriptions(chosen: list[_Row]) -> Check:
    counts = Counter(item.target_description.casefold() for item in chosen)
    keys = [item.key for item in chosen if counts[item.target_description.casefold()] > 1]
    return _row(
        "same_descriptions",
        keys,
        "No two items share a description.",
        "item shares its description with another",
        "items share their description with another",
    )


def _same_questions() -> Check:
    rows = Turn.objects.filter(item__in=_approved()).exclude(content="").order_by().values("content")
    n = rows.annotate(items=Count("item", distinct=True)).filter(items__gt=1).count()
    if not n:
        return Check("same_questions", Level.OK, "No question is asked of two pictures word for word.")
    noun = "question is" if n == 1 else "questions are"
    return Check("same_questions", Level.WARN, f"{n:,} {noun} asked of several pictures word for word.", n)


def _files_later(chosen: list[_Row]) -> Check:
    n = len(chosen)
    text = f"{_n(n, 'picture file is', 'picture files are')} read and compared with the stored hash while freezing."
    return Check("files", Level.LATER, text, n)


def _files(chosen: list[_Row]) -> Check:
    return _row(
        "files",
        list(_broken(chosen)),
        "Every picture's file is there, and its bytes have the hash on record.",
        "picture has no file, or one with other bytes than its hash says",
        "pictures have no file, or one with other bytes than their hash says",
        level=Level.STOPS,
    )


def _broken(chosen: list[_Row]) -> Iterator[str]:
    images = Image.objects.only("sha256", "file").in_bulk([row.image_id for row in chosen])
    for row in chosen:
        image = images[row.image_id]
        if _digest(image) != image.sha256:
            yield row.key


def _digest(image: Image) -> str:
    """The hash of the stored file as it is now; empty where it can't be read."""
    digest = sha256()
    try:
        with image.file.open("rb") as file:
            while block := file.read(_CHUNK):
                digest.update(block)
    except (OSError, ValueError, SuspiciousFileOperation):  # gone, without a name, or outside the folder
        return ""
    return digest.hexdigest()


def as_rows(stored: Any) -> list[Check]:
    """The rows that a dataset was frozen with; none where it was imported, or frozen without the list."""
    return [Check(**{**row, "level": Level(row["level"]), "keys": tuple(row["keys"])}) for row in stored or []]
