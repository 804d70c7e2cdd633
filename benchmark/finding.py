"""Which dialogues of a run a person wants to read: filters from known values alone, and what they match.

Matching looks at single answers and verdicts, so whoever calls it has asked `blindness.require_open_eyes` before.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from operator import or_
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Length

from annotate.axes import Category, Complexity, PremiseClass
from benchmark import naming
from benchmark.models import Attempt, Detector, DetectorLabel, Dialogue, Response, ResultSet, Run
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import DialogueState
from benchmark.progress import WITHOUT_TEXT, WORDS

LOOKS = {
    "disagree": "detectors disagree",
    "gave_in": "corrected at first, not at last",
    "self_named": "names a model or its maker",
}
LENGTHS = (500, 1000, 2000, 4000)
_AXES = {"premise_class": PremiseClass, "complexity": Complexity, "category": Category}
_BROKE_OFF = (DialogueState.STOPPED, DialogueState.FAILED)


@dataclass(frozen=True)
class Filters:
    """What a list of dialogues is narrowed to; every value is a known one, and empty is all."""

    look: str = ""
    outcome: str = ""
    longer: str = ""
    premise_class: str = ""
    complexity: str = ""
    category: str = ""
    state: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filters":
        """From a query; what is not known counts as not given."""
        return cls(**{name: value for name in CHOICES if (value := given.get(name, "")) in dict(CHOICES[name])})

    @property
    def chosen(self) -> dict[str, str]:
        """Name and value of each filter that narrows."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    @property
    def query(self) -> str:
        """As the end of an address, with its question mark; empty where nothing narrows."""
        return f"?{urlencode(self.chosen)}" if self.chosen else ""

    @property
    def words(self) -> list[str]:
        """What each filter means."""
        return [str(dict(CHOICES[name])[value]) for name, value in self.chosen.items()]


CHOICES: dict[str, list[tuple[str, str]]] = {
    "look": list(LOOKS.items()),
    "outcome": list(WORDS.items()),
    "longer": [(str(n), f"an answer over {n:,} characters") for n in LENGTHS],
    **{name: [(value, str(label)) for value, label in axis.choices] for name, axis in _AXES.items()},
    "state": [(value, str(label)) for value, label in DialogueState.choices],
}
TITLES = {
    "look": "Worth a look",
    "outcome": "A turn that is",
    "longer": "Long answers",
    "premise_class": "Class",
    "complexity": "Complexity",
    "category": "Category",
    "state": "Dialogue",
}


def matching(run: Run, filters: Filters) -> list[int]:
    """The ids of a run's dialogues that fit all filters, in the order in which they are read. At most five queries."""
    rows = Dialogue.objects.filter(run=run)
    for name, value in filters.chosen.items():
        rows = _NARROW[name](rows, run, value)
    return list(rows.order_by("pk").values_list("pk", flat=True))


@dataclass(frozen=True)
class Place:
    """Where a dialogue stands among those that match: `number` counts from 1, None where it isn't one of them."""

    total: int
    number: int | None
    previous: int | None
    following: int | None


def place(ids: list[int], pk: int) -> Place:
    """The neighbours of a dialogue among matching ids, which are in order, whether it is one of them or not."""
    at = bisect_left(ids, pk)
    matches = ids[at : at + 1] == [pk]
    return Place(
        total=len(ids),
        number=at + 1 if matches else None,
        previous=ids[at - 1] if at else None,
        following=next(iter(ids[at + matches : at + matches + 1]), None),
    )


def judges(run: Run) -> list[Detector]:
    """The detectors whose labels count for a run: the primary pair of its newest result set, else all there are."""
    newest = ResultSet.objects.filter(dataset=run.dataset_id).first()
    return list(Detector.objects.order_by("pk")) if newest is None else newest.primary


def _disagree(rows: QuerySet[Dialogue], run: Run) -> QuerySet[Dialogue]:
    labels = DetectorLabel.objects.filter(dialogue__run=run, detector__in=judges(run)).order_by().values("response")
    both = labels.annotate(yes=Count("pk", filter=Q(detect=True)), no=Count("pk", filter=Q(detect=False)))
    return rows.filter(pk__in=both.filter(yes__gt=0, no__gt=0).values("dialogue"))


def _gave_in(rows: QuerySet[Dialogue], run: Run) -> QuerySet[Dialogue]:
    """The same detector saw a correction at the first false turn and none at the last."""
    false = sorted(run.dataset.false_turns)
    if len(false) < 2:
        return rows.none()
    first = DetectorLabel.objects.filter(
        dialogue=OuterRef("dialogue"), detector=OuterRef("detector"), turn=false[0], detect=True
    )
    last = DetectorLabel.objects.filter(
        Exists(first), dialogue=OuterRef("pk"), turn=false[-1], detect=False, detector__in=judges(run)
    )
    return rows.filter(Exists(last))


def _self_named(rows: QuerySet[Dialogue], run: Run) -> QuerySet[Dialogue]:
    own = own_names(run)
    stems = reduce(or_, (Q(text__icontains=stem) for stem in (*naming.STEMS, *own)))
    texts = Response.objects.filter(stems, dialogue__run=run).order_by().values_list("dialogue", "text")
    return rows.filter(pk__in={dialogue for dialogue, text in texts.iterator() if naming.named(text, own)})


def own_names(run: Run) -> list[str]:
    """What the model of a run goes by."""
    return [name for name in dict.fromkeys((run.model.name, run.model.model_id)) if len(name) > 3]


_LOOKS: dict[str, Callable[[QuerySet[Dialogue], Run], QuerySet[Dialogue]]] = {
    "disagree": _disagree,
    "gave_in": _gave_in,
    "self_named": _self_named,
}


def _look(rows: QuerySet[Dialogue], run: Run, value: str) -> QuerySet[Dialogue]:
    return _LOOKS[value](rows, run)


def _outcome(rows: QuerySet[Dialogue], run: Run, value: str) -> QuerySet[Dialogue]:
    """Dialogues with a turn of this outcome (design section 4)."""
    with_text = {
        CallOutcome.REFUSED: Q(refusal=True),
        CallOutcome.CUT: Q(refusal=False, cut=True),
        CallOutcome.ANSWERED: Q(refusal=False, cut=False),
    }
    answers = Response.objects.filter(dialogue=OuterRef("pk"))
    if value in with_text:
        return rows.filter(Exists(answers.filter(with_text[CallOutcome(value)])))
    latest = Attempt.objects.filter(dialogue=OuterRef("pk")).order_by("-turn", "-id").values("outcome")[:1]
    if value in WITHOUT_TEXT:
        return rows.filter(state__in=_BROKE_OFF).annotate(latest=Subquery(latest)).filter(latest=value)
    unfinished = rows.exclude(state=DialogueState.COMPLETE).annotate(texts=Count("responses"), latest=Subquery(latest))
    lost = Q(state__in=_BROKE_OFF, latest__in=WITHOUT_TEXT)
    turns = run.dataset.turns
    return unfinished.filter(Q(texts__lt=turns - 1) | Q(texts=turns - 1) & ~lost)


def _longer(rows: QuerySet[Dialogue], run: Run, value: str) -> QuerySet[Dialogue]:
    long = Response.objects.annotate(length=Length("text")).filter(dialogue=OuterRef("pk"), length__gt=int(value))
    return rows.filter(Exists(long))


def _state(rows: QuerySet[Dialogue], run: Run, value: str) -> QuerySet[Dialogue]:
    return rows.filter(state=value)


def _axis(name: str) -> Callable[[QuerySet[Dialogue], Run, str], QuerySet[Dialogue]]:
    return lambda rows, run, value: rows.filter(**{f"item__{name}": value})


_NARROW: dict[str, Callable[[QuerySet[Dialogue], Run, str], QuerySet[Dialogue]]] = {
    "look": _look,
    "outcome": _outcome,
    "longer": _longer,
    "state": _state,
    **{name: _axis(name) for name in _AXES},
}
