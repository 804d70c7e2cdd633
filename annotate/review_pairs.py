"""Items that two people reviewed independently, both verdicts in. Reads only."""

from collections import defaultdict
from dataclasses import dataclass

from annotate.models import Item, Review
from annotate.models.reviews import Verdict


@dataclass(frozen=True)
class Pair:
    """The two verdicts on one version of an item, in the order in which they were given."""

    item: Item
    first: Review
    second: Review

    @property
    def agrees(self) -> bool:
        """Whether both approved or neither did."""
        return (self.first.verdict == Verdict.APPROVED) == (self.second.verdict == Verdict.APPROVED)


def settled() -> list[Pair]:
    """All pairs of which both verdicts are in, the newest first; a verdict that waits for its second is not told."""
    rows = Review.objects.filter(independent=True, withdrawn_at=None).select_related("item__image", "reviewer")
    found: dict[tuple[int, int], list[Review]] = defaultdict(list)
    for review in rows.order_by("id"):
        found[review.item_id, review.item_version].append(review)
    pairs = [Pair(both[0].item, both[0], both[1]) for both in found.values() if len(both) == 2]
    return sorted(pairs, key=lambda pair: pair.second.pk, reverse=True)
