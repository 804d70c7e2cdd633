"""Near duplicates: every new picture is compared with all others; a person decides about each pair."""

from dataclasses import dataclass, field

from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Image, ImagePair, Item, User
from annotate.models.duplicates import PairState
from annotate.models.items import ItemState
from fpco_site.errors import Conflict

# Bits of 64. On the demo's 23 photographs, the same picture in other qualities and sizes or brighter is at most 6
# bits away and one with its edges cut by 2 % at most 10; two different photographs are at least 18 bits apart.
NEAR = 10
# The hash says which frequencies are above their median, so half of its bits are set; of a plain surface it says
# nothing, and next to none are.
_LEAST_DETAIL = 16
_LOCK = 0x1A6E5


@dataclass
class Gallery:
    """All pictures by their hashes, kept while an import lasts, so that a file asks the database nothing.

    `by_digest` has the id of the oldest picture with these bytes, given or stored; comparing two perceptual hashes is
    one XOR.
    """

    by_digest: dict[str, int] = field(default_factory=dict)
    sights: dict[int, int] = field(default_factory=dict)
    newest: int = 0

    def catch_up(self) -> None:
        """Take in what others added meanwhile."""
        rows = Image.objects.filter(pk__gt=self.newest).order_by("pk")
        for row in rows.values_list("pk", "phash", "sha256", "original_sha256").iterator():
            self._take(*row)

    def add(self, image: Image) -> None:
        """Take in a picture whose row was just written."""
        self._take(image.pk, image.phash, image.sha256, image.original_sha256)

    def find(self, *digests: str) -> int | None:
        """The id of the picture with one of these hashes of bytes."""
        return min((self.by_digest[digest] for digest in digests if digest in self.by_digest), default=None)

    def near(self, phash: str) -> list[tuple[int, int]]:
        """(id, distance) of the pictures that look like this one, the nearest first."""
        if not has_detail(phash):
            return []
        value = int(phash, 16)
        found = ((pk, (value ^ other).bit_count()) for pk, other in self.sights.items())
        return sorted((pair for pair in found if pair[1] <= NEAR), key=lambda pair: pair[::-1])

    def forget(self) -> None:
        """Start again: a transaction was rolled back, and with it what was added."""
        self.by_digest.clear()
        self.sights.clear()
        self.newest = 0

    def _take(self, pk: int, phash: str, *digests: str) -> None:
        self.newest = max(self.newest, pk)
        for digest in filter(None, digests):
            self.by_digest.setdefault(digest, pk)
        if has_detail(phash):
            self.sights[pk] = int(phash, 16)


def has_detail(phash: str) -> bool:
    """Whether the hash says anything: it is of a picture with more than one plain surface."""
    return bool(phash) and _LEAST_DETAIL <= int(phash, 16).bit_count() <= 64 - _LEAST_DETAIL


def one_at_a_time() -> None:
    """Until the transaction ends, nobody else adds pictures: of two at once neither would be compared with the other.

    SQLite has one writer at a time anyhow.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def compare(image: Image, gallery: Gallery) -> list[tuple[int, int]]:
    """Write the pairs of a picture, inside the transaction that added it; gives (id, distance) of each."""
    found = gallery.near(image.phash)
    gallery.add(image)
    if found:
        ImagePair.objects.bulk_create(ImagePair(first_id=pk, second=image, distance=distance) for pk, distance in found)
    return found


@transaction.atomic
def decide(*, pair: ImagePair, keep: Image | None, by: User) -> ImagePair:
    """Two different pictures (`keep` is None), or the same one, of which `keep` stays and the other is set aside.

    Raises
    ------
    Conflict
        If the pair was decided meanwhile, or the picture to set aside carries an item that still counts.
    """
    pair = _locked(pair)
    if pair.state != PairState.OPEN:
        raise Conflict(f"This pair was decided already: {pair.get_state_display()}. Undo that first.")
    if keep is not None:
        kept, other = (pair.first, pair.second) if keep.pk == pair.first_id else (pair.second, pair.first)
        _set_aside(other, kept)
    pair.state = PairState.DIFFERENT if keep is None else PairState.SAME
    pair.decided_by, pair.decided_at = by, timezone.now()
    pair.save(update_fields=["state", "decided_by", "decided_at"])
    return pair


@transaction.atomic
def undo(*, pair: ImagePair) -> ImagePair:
    """Open a decided pair again; a picture that was set aside by it is offered again."""
    pair = _locked(pair)
    if pair.state == PairState.OPEN:
        return pair
    for image, kept in ((pair.first, pair.second), (pair.second, pair.first)):
        Image.objects.filter(pk=image.pk, duplicate_of=kept).update(duplicate_of=None)
    pair.state, pair.decided_by, pair.decided_at = PairState.OPEN, None, None
    pair.save(update_fields=["state", "decided_by", "decided_at"])
    return pair


def item_in_the_way(image: Image) -> Item | None:
    """The item because of which the picture can't be set aside."""
    return image.items.exclude(state=ItemState.REJECTED).first()


def _locked(pair: ImagePair) -> ImagePair:
    pair = ImagePair.objects.select_for_update().get(pk=pair.pk)
    # Both rows, in the order of their ids, so that two decisions can't set both pictures aside.
    images = {image.pk: image for image in Image.objects.select_for_update().filter(pk__in=_ids(pair)).order_by("pk")}
    pair.first, pair.second = images[pair.first_id], images[pair.second_id]
    return pair


def _ids(pair: ImagePair) -> list[int]:
    return [pair.first_id, pair.second_id]


def _set_aside(image: Image, keep: Image) -> None:
    for one in (image, keep):
        if one.duplicate_of_id is not None:
            raise Conflict(f"{one} was set aside already, as a duplicate of {one.duplicate_of}.")
    if item := item_in_the_way(image):
        raise Conflict(
            f"{image} carries the item {item.key} ({item.get_state_display()}): keep this picture and set the other "
            "aside, or reject the item first."
        )
    image.duplicate_of = keep
    image.save(update_fields=["duplicate_of"])
