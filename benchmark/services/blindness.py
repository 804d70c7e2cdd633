"""Who must not see what models answered, and who saw it (design section 4, blind labelling)."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotate.models import Assignment, Dataset, LabelSet, User
from annotate.services.adjudication import LABELLING
from benchmark.models import Dialogue, Exposure, Opened
from fpco_site.errors import Withheld


def withheld_from(user: User, dataset: Dataset) -> bool:
    """Whether response-level information of this dataset is hidden from this person.

    Always for people who only annotate. For everybody else while they have an open assignment in an
    open label set over the dataset: blindness ends when that person's labels are locked (submitted, or
    the set closed), not at the last label.
    """
    return user.is_annotator or Assignment.objects.open_of(user).filter(label_set__dataset=dataset).exists()


def withheld_datasets(user: User) -> frozenset[int]:
    """The ids of the datasets over which this person labels at the moment.

    For lists that span datasets. People who only annotate must not get such a list at all.
    """
    return frozenset(Assignment.objects.open_of(user).values_list("label_set__dataset_id", flat=True))


def require_open_eyes(*, user: User, dataset: Dataset, page: str, dialogue: Dialogue | None = None) -> None:
    """Record that this person looks at response-level information, or refuse it.

    Every view that shows a single answer, verdict or label calls this first, outside of a transaction:
    the record of a refusal must outlive the error. A page that refreshes itself calls this when it is
    opened and `refuse_blind` at each refresh, so that exposures count views and not seconds.

    Raises
    ------
    Withheld
        With a sentence that says until when; the attempt is kept as a withheld exposure.
    """
    withheld = withheld_from(user, dataset)
    Exposure.objects.create(person=user, dataset=dataset, dialogue=dialogue, page=page[:200], withheld=withheld)
    if withheld:
        raise Withheld(_sentence(user))


def require_unblinded(*, user: User, dataset: Dataset, page: str) -> None:
    """For aggregates that would tell a person how far their labels fit those of others: agreement, a set's report.

    Raises
    ------
    Withheld
        While this person is blind; the attempt is kept as a withheld exposure. Otherwise the first look is kept.
    """
    if withheld_from(user, dataset):
        note_refused(user=user, dataset=dataset, page=page)
        raise Withheld(_sentence(user))
    note_opened(user=user, dataset=dataset, page=page)


def note_refused(*, user: User, dataset: Dataset, page: str) -> None:
    """Record an attempt that the caller refuses; outside of a transaction, so that the record outlives the refusal."""
    Exposure.objects.create(person=user, dataset=dataset, page=page[:200], withheld=True)


def note_opened(*, user: User, dataset: Dataset, page: str) -> None:
    """Record that this person opened aggregates of this dataset; later looks cost one read and write nothing."""
    which = {"person": user, "dataset": dataset, "page": page[:200]}
    if not Opened.objects.filter(**which).exists():
        Opened.objects.bulk_create([Opened(**which)], ignore_conflicts=True)


def refuse_blind(*, user: User, dataset: Dataset) -> None:
    """Refuse like `require_open_eyes`, without a record: for the refreshes of a page already recorded."""
    if withheld_from(user, dataset):
        raise Withheld(_sentence(user))


def note_decisions(*, user: User, label_set: LabelSet, page: str) -> None:
    """Record a look at the disagreements of a closed set, which are answers of its dataset; or refuse it.

    Unlike other answers, these are open to people who only annotate: they decide them.

    Raises
    ------
    Withheld
        While this person labels another set over the same dataset.
    """
    blind = Assignment.objects.open_of(user).filter(label_set__dataset=label_set.dataset_id).exists()
    Exposure.objects.create(person=user, dataset=label_set.dataset, page=page[:200], withheld=blind)
    if blind:
        raise Withheld(LABELLING)


def _sentence(user: User) -> str:
    if user.is_annotator:
        return "This is withheld from people who label, so that their labels stay blind."
    return LABELLING


@dataclass(frozen=True)
class Seen:
    """How often a person looked at answers of a dataset before a set was opened, and was refused since."""

    before: int = 0
    withheld: int = 0


def exposures(label_set: LabelSet) -> dict[int, Seen]:
    """What each annotator of a set had seen of its dataset, by the person's id; part of the set's report."""
    people = label_set.assignments.values("person")
    rows = Exposure.objects.filter(dataset=label_set.dataset_id, person__in=people).values("person")
    counted = rows.annotate(
        before=Count("pk", filter=Q(withheld=False, at__lt=label_set.opened_at)),
        refused=Count("pk", filter=Q(withheld=True, at__gte=label_set.opened_at)),
    )
    return {row["person"]: Seen(row["before"], row["refused"]) for row in counted.order_by()}
