"""The state of the whole study in counts, and what waits for one person. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse

from annotate import cells, selectors, worklist
from annotate.models import Assignment, Dataset, DatasetItem, Draft, DraftJob, Image, Item, Label, User
from annotate.models.drafts import DraftJobState, DraftState
from annotate.models.items import ItemState
from benchmark.models import Detection, DetectionJob, DetectorLabel, Response, Run, ValidationSet
from benchmark.models.detectors import DetectionState, JobState
from benchmark.models.runs import RunState

SHOWN = 6  # paused runs and jobs by name; more are a click away


@dataclass(frozen=True)
class Stage:
    """One step of the funnel: how many of what, where they are, and whether some of it is simulated."""

    label: str
    unit: str
    count: int
    href: str
    simulated: bool = False


def stages(user: User) -> list[Stage]:
    """The funnel from pictures to human labels. Links lead where this person may go."""
    states = selectors.state_counts()
    drafted = Item.objects.filter(parent=None).exclude(state=ItemState.REJECTED).exclude(target_description="")
    images, review = (reverse("image_list"), reverse("review_queue")) if user.is_author else ("", "")
    runs, results = reverse("run_list"), reverse("results")
    made_up = Run.objects.exclude(state=RunState.DRAFT).filter(simulated=True).exists()
    judged = DetectionJob.objects.filter(detector__simulated=True).exists()
    return [
        Stage("images", "imported", Image.objects.count(), images),
        Stage("placed", "items in a cell", sum(n for state, n in states.items() if state != "rejected"), review),
        Stage("drafted", "items with text", drafted.count(), review),
        Stage("in review", "items", states["in_review"], review and f"{review}?state=in_review"),
        Stage("approved", "items", states["approved"], review and f"{review}?state=approved"),
        Stage("frozen", "dialogues in datasets", DatasetItem.objects.count(), reverse("dataset_list")),
        Stage("answered", "responses", Response.objects.count(), runs, made_up),
        Stage("labelled", "by detectors", DetectorLabel.objects.count(), results, judged),
        Stage("labelled", "by people", _human_labels(), reverse("agreement"), _simulated_people()),
    ]


def _human_labels() -> int:
    return Label.objects.order_by().values("task", "assignment").distinct().count()


def _simulated_people() -> bool:
    return Label.objects.filter(simulated=True).exists()


def is_new() -> bool:
    """Whether nothing is here yet: no picture and no dataset."""
    return not Image.objects.exists() and not Dataset.objects.exists()


def grid(user: User) -> dict[str, object]:
    """The 36 cells as components/cell_grid.html draws them."""
    counts = selectors.cell_counts()
    return cells.grid(counts) if user.is_author else selectors.cell_grid(counts, states=True)


@dataclass(frozen=True)
class Waiting:
    """Something that this person can do now. `count` is None where it is one thing."""

    text: str
    detail: str
    count: int | None
    href: str
    icon: str


def waiting_for(user: User) -> list[Waiting]:
    """What waits for this person, the most urgent first. A reader has nothing to do."""
    if not user.is_author:
        return []
    return [
        *_paused_runs(),
        *_paused_jobs(),
        *_stopped_drafting(),
        *_my_labels(user),
        *_ripe_sets(),
        *_reviews(),
        *_drafts(),
        *_labels(),
    ]


def _paused_runs() -> Iterator[Waiting]:
    for run in Run.objects.filter(state=RunState.PAUSED).select_related("model", "dataset")[:SHOWN]:
        href = reverse("run_detail", args=[run.pk])
        yield Waiting(f"{run.model} over {run.dataset} is paused", run.pause_reason, None, href, "pause")


def _paused_jobs() -> Iterator[Waiting]:
    for job in DetectionJob.objects.filter(state=JobState.PAUSED).select_related("detector", "dataset")[:SHOWN]:
        href = reverse("detector_detail", args=[job.detector_id])
        yield Waiting(f"{job.detector} over {job.dataset} is paused", job.pause_reason, None, href, "pause")


def _stopped_drafting() -> Iterator[Waiting]:
    for job in DraftJob.objects.filter(state=DraftJobState.STOPPED).select_related("drafter")[:SHOWN]:
        href = reverse("drafting_job", args=[job.pk])
        yield Waiting(f"Drafting by {job.drafter} has stopped", job.stop_reason, None, href, "stop")


def _my_labels(user: User) -> Iterator[Waiting]:
    mine = Assignment.objects.open_of(user)
    for share in worklist.shares(mine):
        left, name = share.total - share.done, share.assignment.label_set.name
        href = reverse("label_set", args=[share.assignment.label_set_id])
        detail = f"{left} of {share.total} left" if left else "all labelled: submit them"
        yield Waiting(f"Label {name}", detail, left, href, "label")


def _ripe_sets() -> Iterator[Waiting]:
    """Validation sets that are open and wait for nobody any more."""
    open_work = Assignment.objects.filter(label_set=OuterRef("label_set"), state="open")
    anybody = Assignment.objects.filter(label_set=OuterRef("label_set"))
    ripe = ValidationSet.objects.filter(Exists(anybody), ~Exists(open_work), label_set__state="open")
    for row in ripe.select_related("label_set"):
        href = reverse("validation_detail", args=[row.pk])
        yield Waiting(f"Close {row.label_set.name}", "everybody has submitted", None, href, "lock")


def _reviews() -> Iterator[Waiting]:
    count = Item.objects.filter(parent=None, state=ItemState.IN_REVIEW).count()
    if count:
        yield Waiting(
            "Review items", "wait for a verdict", count, f"{reverse('review_queue')}?state=in_review", "review"
        )


def _drafts() -> Iterator[Waiting]:
    newer = Draft.objects.filter(item=OuterRef("item"), kind=OuterRef("kind"), pk__gt=OuterRef("pk"))
    failed = Draft.objects.filter(~Exists(newer), state=DraftState.FAILED)
    found = failed.aggregate(items=Count("item", distinct=True))["items"]
    if found:
        yield Waiting("Look at failed drafts", "draft again, or write", found, reverse("drafting_list"), "warn")


def _labels() -> Iterator[Waiting]:
    """Detections that failed: their answers have no label."""
    rows = Detection.objects.filter(state=DetectionState.FAILED).order_by()
    for detector, name, count in rows.values_list("detector", "detector__name").annotate(n=Count("pk"))[:SHOWN]:
        href = reverse("detector_detail", args=[detector])
        yield Waiting(f"{name} could not label dialogues", "ask again", count, href, "warn")
