"""What closing a validation set would leave without a label. Reads only; counts, never a label."""

from dataclasses import dataclass

from django.db.models import Count

from annotate import worklist
from annotate.models import LabelSet
from annotate.models.labels import Mode
from annotate.worklist import Share


@dataclass(frozen=True)
class Missing:
    """What is still missing: by person in a crossed set, by task in a pool, where nobody owes a number of labels."""

    shares: list[Share]
    tasks: int
    short: int

    @property
    def is_whole(self) -> bool:
        return not self.short


def missing(label_set: LabelSet) -> Missing:
    """How many tasks have fewer labels than they should: one of each annotator, or as many as a pool wants."""
    shares = worklist.shares(label_set.assignments.all())
    wanted = label_set.labels_per_task if label_set.mode == Mode.POOL else len(shares)
    labelled = label_set.tasks.annotate(given=Count("labels__assignment", distinct=True)).order_by()
    total = label_set.tasks.count()
    return Missing(shares, total, total - labelled.filter(given__gte=wanted).count())
