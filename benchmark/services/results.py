"""Which runs and detectors count."""

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotate.models import Dataset, User
from benchmark.models import (
    DetectionJob,
    Detector,
    ResultSet,
    ResultSetDetector,
    ResultSetRun,
    Run,
)
from benchmark.models.runs import RunState
from fpco_site.errors import Invalid

PRIMARY = 2
_ENDED = (RunState.COMPLETE, RunState.INCOMPLETE, RunState.STOPPED)


@transaction.atomic
def create(*, dataset: Dataset, name: str, runs: list[Run], detectors: list[Detector], by: User | None) -> ResultSet:
    """Declare which run of each model and which detectors count; the first two detectors make the mean.

    Raises
    ------
    Invalid
        If a run is of another dataset or a model has two runs, or there is no name.
    """
    if not name.strip():
        raise Invalid("A result set needs a name.")
    if ResultSet.objects.filter(dataset=dataset, name=name.strip()).exists():
        raise Invalid(f"{dataset.name} already has a result set named {name.strip()!r}.")
    if any(run.dataset_id != dataset.pk for run in runs):
        raise Invalid("A result set holds runs over its own dataset only.")
    if len({run.model_id for run in runs}) != len(runs):
        raise Invalid("One run of each model counts.")
    made = ResultSet.objects.create(dataset=dataset, name=name.strip(), created_by=by)
    ResultSetRun.objects.bulk_create(ResultSetRun(result_set=made, model_id=run.model_id, run=run) for run in runs)
    ResultSetDetector.objects.bulk_create(
        ResultSetDetector(result_set=made, detector=detector, position=position, primary=position <= PRIMARY)
        for position, detector in enumerate(detectors, 1)
    )
    return made


def default(dataset: Dataset) -> ResultSet | None:
    """The dataset's newest result set; None where nothing has run.

    A set that nobody declared follows the work: when another run or detector has come, a new one is
    made, so that what was drawn or published from the old one keeps its meaning.
    """
    newest = _newest(dataset)
    if newest is not None and newest.created_by_id is not None:
        return newest
    runs, detectors = counting_runs(dataset), counting_detectors(dataset)
    if not runs or (newest is not None and _holds(newest, runs, detectors)):
        return newest
    return _follow(dataset, runs, detectors)


def newest_dataset() -> Dataset | None:
    """The newest dataset over which something has run."""
    started = Run.objects.filter(dataset=OuterRef("pk")).exclude(state=RunState.DRAFT)
    return Dataset.objects.filter(Exists(started)).order_by("-id").first()


def counting_runs(dataset: Dataset) -> list[Run]:
    """The newest ended run of each model, or, where none has ended, its newest started one."""
    chosen: dict[int, Run] = {}
    started = Run.objects.filter(dataset=dataset).exclude(state=RunState.DRAFT).order_by("id")
    for run in started.select_related("model").only("dataset", "state", "model__name"):
        held = chosen.get(run.model_id)
        if held is None or run.state in _ENDED or held.state not in _ENDED:
            chosen[run.model_id] = run
    return sorted(chosen.values(), key=lambda run: run.model.name)


def counting_detectors(dataset: Dataset) -> list[Detector]:
    """The newest version of each detector that was asked over the dataset, in the order they came."""
    newest: dict[str, Detector] = {}
    for job in DetectionJob.objects.filter(dataset=dataset).order_by("id").select_related("detector"):
        held = newest.get(job.detector.slug)
        if held is None or job.detector.version > held.version:
            newest[job.detector.slug] = job.detector
    return list(newest.values())


def _newest(dataset: Dataset) -> ResultSet | None:
    found = ResultSet.objects.filter(dataset=dataset).first()
    if found is not None:
        found.dataset = dataset  # which is not read once more
    return found


def _holds(result_set: ResultSet, runs: list[Run], detectors: list[Detector]) -> bool:
    held_runs = {row.run_id for row in result_set.held_runs}
    held_detectors = [row.detector_id for row in result_set.held_detectors]
    return held_runs == {run.pk for run in runs} and held_detectors == [detector.pk for detector in detectors]


@transaction.atomic
def _follow(dataset: Dataset, runs: list[Run], detectors: list[Detector]) -> ResultSet:
    # Locking the dataset makes two first readers agree on one set.
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    newest = _newest(dataset)
    if newest is not None and _holds(newest, runs, detectors):
        return newest
    name = f"Automatic {ResultSet.objects.filter(dataset=dataset).count() + 1}"
    return create(dataset=dataset, name=name, runs=runs, detectors=detectors, by=None)
