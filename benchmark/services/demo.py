"""The demo study: real photographs, put through every step of the pipeline by its own services.

Nothing here writes a row that the pages couldn't have made. Each step first looks whether its result is
there, and is atomic or taken up again by the engine: a load that was stopped half-way goes on at the next.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotate import image_csv
from annotate.models import Dataset, Draft, Image, Item, LabelSet, User
from annotate.models.drafts import DraftKind
from annotate.models.imports import Outcome
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.services import datasets, drafters, drafts, images, items, reviews
from annotate.services.items import Question, Texts
from benchmark.models import DetectionJob, Detector, EvaluatedModel, Release, Run
from benchmark.models.detectors import JobState
from benchmark.models.releases import BuildState
from benchmark.models.runs import RunState
from benchmark.services import (
    analyses,
    connections,
    demo_labels,
    detectors,
    models,
    patterns,
    releases,
    results,
    runs,
    validation,
)
from fpco_site.errors import Conflict
from fpco_site.llm.engine import pump

FOLDER = Path(__file__).resolve().parent.parent / "demo"
NAME = "demo"
DRAFTED = "jaguars.jpg"
MODELS: tuple[dict[str, Any], ...] = (
    {"name": "Scripted Skeptic", "model_id": "scripted-skeptic", "options": {"habit": "skeptic"}},
    {"name": "Scripted Agreeable", "model_id": "scripted-agreeable", "options": {"habit": "agreeable"}},
    {
        "name": "Scripted Filtered",
        "model_id": "scripted-filtered",
        "options": {
            "habit": "skeptic",
            "faults": {"blocked": 0.02, "empty": 0.015, "cut": 0.05, "refused": 0.03, "transient": 0.02},
        },
    },
)
DETECTORS: tuple[dict[str, Any], ...] = (
    {"slug": "rules-strict", "name": "Rules, strict", "options": {"strictness": "strict"}},
    {"slug": "rules-lenient", "name": "Rules, lenient", "options": {"strictness": "lenient"}},
)
PILOT, MAIN = "Pilot", "Main round"
ANALYSES = ("self_scoring", "truncation", "persistence")


def load(*, people: dict[str, User], progress: Callable[[str], None] = lambda _: None) -> Dataset:
    """Bring the demo study to its end, from wherever an earlier load left it; returns its dataset.

    Parameters
    ----------
    people : dict
        The demo's people by name: ada and ben (authors), lea and lou (annotators).
    progress : callable
        Gets one line at the start of each step.
    """
    ada, ben = people["ada"], people["ben"]
    progress("Importing photographs and writing items ...")
    _import_images(ada)
    _write_items(author=ada, reviewer=ben)
    dataset = Dataset.objects.filter(name=NAME).first() or datasets.freeze(name=NAME, by=ada, only_approved=True)
    models.load_catalogue(text=(settings.BASE_DIR / "models.toml").read_text(encoding="utf-8"), by=ada)
    progress("Running the scripted models and the rules detectors ...")
    _ask(dataset, by=ada)
    patterns.refresh(runs=list(Run.objects.filter(dataset=dataset)))
    progress("Opening the label sets ...")
    annotators = [people["lea"], people["lou"]]
    _pilot(dataset, annotators, by=ada)
    _main_round(dataset, annotators, by=ada)
    _analyse(dataset, by=ada)
    progress("Building a release ...")
    _release(dataset, by=ada)
    return dataset


def _import_images(by: User) -> None:
    table = image_csv.parse((FOLDER / "photos.csv").read_bytes(), name="photos.csv")
    for fate in images.import_many(given=images.in_folder(FOLDER / "photos"), table=table, by=by):
        if fate.outcome not in {Outcome.ADDED, Outcome.PRESENT}:
            raise Conflict(f"The demo's {fate.name} could not be imported: {fate.sentence}")


def _write_items(*, author: User, reviewer: User) -> None:
    for entry in json.loads((FOLDER / "items.json").read_text(encoding="utf-8")):
        item = Item.objects.get(image=_image(entry["file"]), parent=None)
        _write_item(item, entry, author=author, reviewer=reviewer)


@transaction.atomic
def _write_item(item: Item, entry: dict[str, Any], *, author: User, reviewer: User) -> None:
    """Write, submit and approve one item as far as its entry says; an item with texts is left alone."""
    if item.target_description:
        return
    item = items.edit(item=item, version=item.version, texts=_texts(item, entry), by=author, reason="written")
    if entry["state"] == ItemState.DRAFT:
        return
    item = items.submit(item=item, version=item.version, by=author)
    if entry["state"] == ItemState.APPROVED:
        checks = reviews.Checks(grounding=True, consistency=True, naturalness=True, single_error=True)
        reviews.decide(item=item, version=item.version, verdict=Verdict.APPROVED, by=reviewer, checks=checks)


def _texts(item: Item, entry: dict[str, Any]) -> Texts:
    return Texts(
        target=item.target,
        target_description=entry["target_description"],
        modified_target_description=entry["modified_target_description"],
        questions={turn["turn"]: Question(turn["content"], turn.get("modified", "")) for turn in entry["turns"]},
    )


def _image(name: str) -> Image:
    return Image.objects.get(name=name)


def _ask(dataset: Dataset, *, by: User) -> None:
    """Have drafts, answers and labels made, all by one engine in this process."""
    for values in MODELS:
        _run(values, dataset, by)
    for values in DETECTORS:
        _detect(values, dataset, by)
    _draft(by)
    _test_connections(by)
    pump.run(stop=pump.Stop())
    _require_ended(dataset)


def _test_connections(by: User) -> None:
    """The offline models and detectors alone: those of the catalogue would cost money."""
    of_models = EvaluatedModel.objects.filter(name__in=[values["name"] for values in MODELS], tests=None)
    of_detectors = Detector.objects.filter(slug__in=[values["slug"] for values in DETECTORS], tests=None)
    connections.request_all(subjects=[*of_models, *of_detectors], by=by)


def _run(values: dict[str, Any], dataset: Dataset, by: User) -> None:
    model = EvaluatedModel.objects.filter(name=values["name"]).first() or models.create(
        by=by, family="Scripted", provider="scripted", concurrency=8, **values
    )
    run = Run.objects.filter(model=model, dataset=dataset).first()
    run = run or runs.create(model=model, dataset=dataset, by=by)
    if run.state == RunState.DRAFT:
        runs.start(run=run, by=by)
    elif run.state == RunState.PAUSED:
        runs.resume(run=run, by=by)


def _detect(values: dict[str, Any], dataset: Dataset, by: User) -> None:
    detector = Detector.objects.filter(slug=values["slug"]).first() or detectors.create(
        by=by, provider="rules", model_id=values["slug"], concurrency=8, **values
    )
    if not DetectionJob.objects.filter(detector=detector, dataset=dataset).exists():
        detectors.request(detector=detector, dataset=dataset, by=by)


def _draft(by: User) -> None:
    """Both drafts of the item that is still one."""
    item = Item.objects.get(image=_image(DRAFTED), parent=None)
    for kind in (DraftKind.QUESTIONS, DraftKind.PREMISE):
        if not Draft.objects.filter(item=item, kind=kind).exists():
            drafts.request(item=item, kind=kind, drafter=drafters.default(), by=by)


def _require_ended(dataset: Dataset) -> None:
    unfinished = Run.objects.filter(dataset=dataset, state__in=runs.OPEN).select_related("model").first()
    if unfinished is not None:
        raise Conflict(f"The demo's run of {unfinished.model} did not end: {unfinished.get_state_display()}.")
    job = DetectionJob.objects.filter(dataset=dataset).exclude(state=JobState.COMPLETE).first()
    if job is not None:
        raise Conflict(f"The demo's {job.detector} did not label everything: {job.get_state_display()}.")


@transaction.atomic
def _pilot(dataset: Dataset, annotators: list[User], *, by: User) -> None:
    """A small round that is over: everybody has labelled everything, and the labels are open to read."""
    if LabelSet.objects.filter(name=PILOT).exists():
        return
    made = validation.open(dataset=dataset, annotators=annotators, by=by, per_cell=4, seed=7, name=PILOT)
    demo_labels.record(label_set=made.label_set, shares=[1.0, 1.0])
    validation.close(validation_set=made, by=by)


@transaction.atomic
def _main_round(dataset: Dataset, annotators: list[User], *, by: User) -> None:
    """The study's draw of six a model and class, begun and still open."""
    if LabelSet.objects.filter(name=MAIN).exists():
        return
    made = validation.open(dataset=dataset, annotators=annotators, by=by, per_cell=6, seed=1, name=MAIN)
    demo_labels.record(label_set=made.label_set, shares=[0.75, 0.6])


def _analyse(dataset: Dataset, *, by: User) -> None:
    """Some analyses to read; the others are a click away."""
    if (result_set := results.default(dataset)) is not None:
        for kind in ANALYSES:
            analyses.request(kind=kind, result_set=result_set, by=by)


def _release(dataset: Dataset, *, by: User) -> None:
    """A release of it all, checked as another lab would check it."""
    made = Release.objects.filter(dataset=dataset).first() or releases.request(dataset=dataset, by=by)
    if made.state in {BuildState.BUILDING, BuildState.FAILED}:
        releases.again(release=made)
    releases.build_waiting()
    made.refresh_from_db()
    if made.state == BuildState.FAILED:
        raise Conflict(f"The demo's release could not be built: {made.error}")
