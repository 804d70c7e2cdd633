"""Importing a release: after the check, everything goes in within one transaction or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, cast

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotate import licences, records
from annotate.models import Dataset, DatasetItem, DatasetTurn, Image, User
from annotate.models.datasets import Origin
from annotate.models.protocols import STUDY
from annotate.services import datasets, images
from benchmark.models import (
    Attempt,
    DetectionJob,
    Detector,
    DetectorLabel,
    Dialogue,
    EvaluatedModel,
    Response,
    ResultSet,
    ResultSetDetector,
    ResultSetRun,
    Run,
)
from benchmark.models.detectors import JobState
from benchmark.models.runs import DialogueState, RunState
from benchmark.releases.reading import Checked, Progress, quiet, response_rows
from benchmark.releases.rows import ItemRow, Outcome, ResponseRow, TurnRow
from benchmark.services import bulk, release_labels, spending, versions
from benchmark.services.results import PRIMARY
from fpco_site import fields
from fpco_site.llm.models import TOKEN_COLUMNS

_RESPONSE_COLUMNS = (
    "id",
    "dialogue_id",
    "turn",
    "text",
    "cut",
    "refusal",
    "finish_reason",
    "model_answered",
    *TOKEN_COLUMNS,
    "seconds",
    "created_at",
)
_ATTEMPT_COLUMNS = (
    "dialogue_id",
    "turn",
    "outcome",
    "reason",
    "started_at",
    "seconds",
    "request_id",
    "error_class",
    "error",
    "settings",
    "image_sha256",
    "request_sha256",
    "software_id",
    *TOKEN_COLUMNS,
)
_TURN_COLUMNS = ("item_id", "number", "false_premise", "content", "modified")
_BATCH = 20_000
_LABEL_COLUMNS = ("response_id", "detector_id", "dialogue_id", "turn", "detect")


@dataclass
class _Work:
    """What the steps of one import hand on to each other."""

    found: Checked
    dataset: Dataset
    by: User | None
    now: datetime
    progress: Progress
    items: list[DatasetItem]
    runs: dict[str, Run]
    dialogues: dict[str, list[int]]
    response_ids: list[int]
    response_dialogue: list[int]
    response_turn: list[int]
    traced: bool = False


@transaction.atomic
def insert(found: Checked, *, name: str, by: User | None, progress: Progress = quiet) -> Dataset:
    """Store a checked release as a new dataset with its runs, answers, labels and result set.

    Raises
    ------
    Conflict, Invalid
        If a dataset of that name exists, or no dataset can have that name.
    """
    dataset = Dataset.objects.create(
        name=datasets.check_name(name),
        origin=Origin.IMPORTED,
        protocol=_protocol(found),
        dataset_hash=records.dataset_hash(as_record(row) for row in found.items),
        manifest=found.manifest,
        created_by=by,
    )
    work = _Work(found, dataset, by, timezone.now(), progress, [], {}, {}, [], [], [])
    _insert_items(work)
    _insert_runs(work)
    _insert_responses(work)
    spending.open_imported(runs=work.runs.values())
    detectors = _insert_labels(work)
    result_set = _insert_result_set(work, detectors)
    if result_set is not None:
        release_labels.insert(found, result_set=result_set, response_ids=work.response_ids, items=work.items)
    return dataset


def as_record(row: ItemRow) -> dict[str, Any]:
    """The row as this project writes it, so that an imported dataset has one hash wherever it goes."""
    item = _item(row, None, None)
    return records.item_record(item, [_turn(turn) for turn in row.turns])


def _protocol(found: Checked) -> dict[str, Any]:
    given = found.manifest.get("protocol") or {}
    return {
        "name": str(given.get("name") or STUDY["name"]),
        "turns": found.turns,
        "false_turns": found.false_turns,
        "per_cell": given["per_cell"] if isinstance(given.get("per_cell"), int) else STUDY["per_cell"],
    }


def _item(row: ItemRow, dataset: Dataset | None, image: Image | None) -> DatasetItem:
    return DatasetItem(
        dataset=dataset,
        key=row.item,
        image=image,
        image_name=_released_as(row),
        sha256=row.sha256 or "",
        original_sha256=row.original_sha256 or "",
        source=row.source,
        source_id=row.source_id or "",
        author=row.author or "",
        license=row.license or "",
        license_url=row.license_url or "",
        landing_url=row.landing_url or "",
        complexity=row.complexity,
        category=row.category,
        premise_class=row.premise_class,
        target=row.target or "",
        target_description=row.target_description,
        modified_target_description=row.modified_target_description,
        parent=row.parent or "",
        variant=row.variant or "",
    )


def _released_as(row: ItemRow) -> str:
    """Pixels that came with a release are kept, but go into another one only if the licence allows it."""
    allowed = licences.classify(row.license or "", row.license_url or "") == licences.Kind.OPEN
    return (row.image or "") if allowed else ""


def _turn(row: TurnRow) -> DatasetTurn:
    return DatasetTurn(
        number=row.turn, false_premise=row.false_premise, content=row.content, modified=row.modified or ""
    )


def _insert_items(work: _Work) -> None:
    found = work.found
    pictures = [_image(work, row) if row.image else None for row in found.items]
    work.items = DatasetItem.objects.bulk_create(
        _item(row, work.dataset, image) for row, image in zip(found.items, pictures, strict=True)
    )
    bulk.insert(
        DatasetTurn,
        _TURN_COLUMNS,
        (
            (
                item.pk,
                turn.turn,
                turn.false_premise,
                fields.escape(turn.content),
                fields.escape(turn.modified or ""),
            )
            for row, item in zip(found.items, work.items, strict=True)
            for turn in row.turns
        ),
    )


def _image(work: _Work, row: ItemRow) -> Image:
    facts = {
        name: getattr(row, name) or ""
        for name in ("source", "source_id", "author", "license", "license_url", "landing_url", "original_sha256")
    }
    data = (work.found.folder / "images" / str(row.image)).read_bytes()
    return images.import_stored(data=data, name=str(row.image), by=work.by, facts=facts).image


def _insert_runs(work: _Work) -> None:
    found, facts = work.found, {row["model"]: row for row in work.found.manifest.get("runs") or []}
    ended = _unfinished(found)
    for name, family in found.models.items():
        known = facts.get(name, {})
        complete = not any(model == name for model, _ in ended)
        work.runs[name] = Run.objects.create(
            model=_model(name, family, known),
            dataset=work.dataset,
            state=known.get("state") or (RunState.COMPLETE if complete else RunState.INCOMPLETE),
            settings=known.get("settings") or {},
            prompt_name=known.get("prompt_name") or "",
            prompt_version=known.get("prompt_version") or "",
            prompt_sha256=known.get("prompt_sha256") or "",
            software=known.get("software") or {},
            simulated=bool(known.get("simulated")),
            imported=True,
            patterns_dirty=True,
            started_by=work.by,
            started_at=parse_datetime(known.get("started_at") or ""),
            finished_at=parse_datetime(known.get("finished_at") or ""),
        )
        work.dialogues[name] = _insert_dialogues(work, name, ended)


def _model(name: str, family: str, known: dict[str, Any]) -> EvaluatedModel:
    settings = known.get("settings") or {}
    model, _ = EvaluatedModel.objects.get_or_create(
        name=name,
        defaults={
            "family": family,
            "provider": settings.get("provider") or "imported",
            "model_id": settings.get("model_id") or name,
            "active": False,
            "imported": True,
        },
    )
    return model


def _unfinished(found: Checked) -> dict[tuple[str, int], str]:
    """Dialogues in which a turn has no text, by model and item, with the state they ended in."""
    ended: dict[tuple[str, int], str] = {}
    for name, place in zip(found.models, found.place, strict=True):
        for at, response in enumerate(place):
            if response < 0:
                ended.setdefault((name, at // found.turns), DialogueState.STOPPED)
    for (name, at), (outcome, _) in found.silent.items():
        if outcome == "failed":
            ended[name, at // found.turns] = DialogueState.FAILED
    return ended


def _insert_dialogues(work: _Work, name: str, ended: dict[tuple[str, int], str]) -> list[int]:
    ids = list(bulk.reserve(Dialogue, len(work.items)))
    run = work.runs[name].pk
    bulk.insert(
        Dialogue,
        ("id", "run_id", "item_id", "state"),
        (
            (pk, run, item.pk, str(ended.get((name, index), DialogueState.COMPLETE)))
            for index, (pk, item) in enumerate(zip(ids, work.items, strict=True))
        ),
    )
    return ids


def _insert_responses(work: _Work) -> None:
    work.response_ids = list(bulk.reserve(Response, work.found.responses))
    bulk.insert(Response, _RESPONSE_COLUMNS, _responses(work))
    bulk.insert(Attempt, _ATTEMPT_COLUMNS, _attempts(work, _software(work.found)))


def _attempts(work: _Work, software: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    """The calls that a release tells of: of turns without text, and of all turns that say when they were asked."""
    index = work.found.item_index
    for row in response_rows(work.found) if work.traced else _silent_rows(work.found):
        if row.asked_at is not None or not (row.response or row.outcome == "not_asked"):
            yield _attempt(row, work.dialogues[row.model][index[row.item]], software.get(row.software), work.now)


def _silent_rows(found: Checked) -> Iterator[ResponseRow]:
    for (name, at), (outcome, reason) in found.silent.items():
        item = found.items[at // found.turns].item
        yield ResponseRow(name, item, at % found.turns + 1, outcome=cast(Outcome, outcome), reason=reason)


def _attempt(row: ResponseRow, dialogue: int, software: int | None, now: datetime) -> tuple[Any, ...]:
    return (
        dialogue,
        row.turn,
        row.outcome,
        fields.escape(row.reason),
        bulk.moment(row.asked_at or now),
        row.seconds or 0.0,
        row.request_id if row.asked_at else "",
        "",
        "",
        "{}",
        row.image_sha256 if row.asked_at else "",
        row.request_sha256 if row.asked_at else "",
        software if row.asked_at else None,
        # An answer keeps its tokens itself.
        *(None if row.response else getattr(row, name) for name in TOKEN_COLUMNS),
    )


def _software(found: Checked) -> dict[str, int]:
    """The rows of the versions that a release's calls were made by, by the names that its rows use."""
    told = found.manifest.get("software") or {}
    return {name: versions.row_of(dict(kept)).pk for name, kept in told.items()}


def _responses(work: _Work) -> Iterator[tuple[Any, ...]]:
    index, now = work.found.item_index, bulk.moment(work.now)
    for row in response_rows(work.found):
        work.traced = work.traced or row.asked_at is not None or not (row.response or row.output_tokens is None)
        if row.response:
            number = len(work.response_turn)
            dialogue = work.dialogues[row.model][index[row.item]]
            work.response_dialogue.append(dialogue)
            work.response_turn.append(row.turn)
            yield _response(row, work.response_ids[number], dialogue, now)
            if number % 5_000 == 0:
                work.progress("Storing responses", number, work.found.responses)


def _response(row: ResponseRow, pk: int, dialogue: int, now: Any) -> tuple[Any, ...]:
    return (
        pk,
        dialogue,
        row.turn,
        fields.escape(row.response or ""),
        row.outcome == "cut",
        row.outcome == "refused",
        row.finish_reason,
        row.model_answered,
        row.input_tokens,
        row.cached_tokens,
        row.output_tokens,
        row.reasoning_tokens,
        row.seconds,
        now,
    )


def _insert_labels(work: _Work) -> list[Detector]:
    found = work.found
    known = {row["slug"]: row for row in found.manifest.get("detectors") or []}
    slugs = [*(slug for slug in known if slug in found.detectors), *(s for s in found.detectors if s not in known)]
    by_slug = {slug: _detector(slug, known.get(slug, {})) for slug in slugs}
    for detector in by_slug.values():
        job = DetectionJob.objects.create(
            detector=detector,
            dataset=work.dataset,
            state=JobState.COMPLETE,
            started_by=work.by,
            finished_at=work.now,
        )
        spending.open_job(job=job)
    stored, total = 0, len(found.label_response)
    for rows in batched(_labels(work, [by_slug[slug].pk for slug in found.detectors]), _BATCH, strict=False):
        bulk.insert(DetectorLabel, _LABEL_COLUMNS, rows)
        work.progress("Storing labels", stored := stored + len(rows), total)
    return list(by_slug.values())


def _labels(work: _Work, detectors: list[int]) -> Iterator[tuple[Any, ...]]:
    """Rows made column by column: at half a million rows a Python statement a row is felt."""
    found = work.found
    return zip(
        map(work.response_ids.__getitem__, found.label_response),
        map(detectors.__getitem__, found.label_detector),
        map(work.response_dialogue.__getitem__, found.label_response),
        map(work.response_turn.__getitem__, found.label_response),
        map(bool, found.label_detect),
        strict=True,
    )


def _detector(slug: str, known: dict[str, Any]) -> Detector:
    """The version that the release describes; one that differs from all known ones becomes a new version."""
    versions = Detector.objects.filter(slug=slug).order_by("-version")
    same = versions.filter(prompt_sha256=known["prompt_sha256"]) if known.get("prompt_sha256") else versions
    if (match := same.first()) is not None:
        return match
    newest = versions.first()
    settings = known.get("settings") or {}
    taken = newest is not None and newest.version >= int(known.get("version") or 1)
    return Detector.objects.create(
        slug=slug,
        version=newest.version + 1 if newest is not None and taken else int(known.get("version") or 1),
        name=known.get("name") or slug,
        prompt_name=known.get("prompt_name") or "",
        prompt_version=known.get("prompt_version") or "",
        prompt_sha256=known.get("prompt_sha256") or "",
        active=False,
        imported=True,
        simulated=bool(known.get("simulated")),
        **{"provider": "imported", "model_id": slug, **settings},
    )


def _insert_result_set(work: _Work, detectors: list[Detector]) -> ResultSet | None:
    """The set that the release's tables were made from, so that they can be made again."""
    if not work.runs:
        return None
    facts = {row["slug"]: row for row in work.found.manifest.get("detectors") or []}
    made = ResultSet.objects.create(
        dataset=work.dataset, name=work.found.manifest.get("result_set") or "Imported", created_by=None
    )
    ResultSetRun.objects.bulk_create(
        ResultSetRun(result_set=made, model_id=run.model_id, run=run) for run in work.runs.values()
    )
    ResultSetDetector.objects.bulk_create(
        ResultSetDetector(
            result_set=made,
            detector=detector,
            position=position,
            primary=bool(facts.get(detector.slug, {}).get("primary", position <= PRIMARY)),
        )
        for position, detector in enumerate(detectors, 1)
    )
    return made
