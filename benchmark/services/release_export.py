"""Exporting a dataset with what ran over it: the same rows give the same bytes."""

import csv
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from annotate import licences, records
from annotate.licences import Kind
from annotate.models import Dataset, DatasetItem, Draft
from annotate.records import item_record
from benchmark import charts, frames, leaderboard, tables
from benchmark.models import Attempt, Detector, DetectorLabel, Dialogue, Response, ResultSet, Run, Software
from benchmark.releases import ADJUDICATIONS, FORMAT, HUMAN_LABELS, ITEMS, LABELS, RESPONSES
from benchmark.releases.reading import Progress, quiet
from benchmark.releases.readme import readme
from benchmark.releases.writing import Writer
from benchmark.services import release_labels, results
from fpco_site.errors import Conflict
from fpco_site.llm import prompts
from fpco_site.llm.models import TOKEN_COLUMNS

_LICENSE_COLUMNS = (
    "item",
    "image",
    "source",
    "source_id",
    "author",
    "license",
    "license_url",
    "landing_url",
    "sha256",
    "original_sha256",
    "pixels",
)


def export(*, dataset: Dataset, folder: Path, progress: Progress = quiet) -> str:
    """Write the release of a dataset into a new folder; returns the sha256 of its manifest.

    Everything is written beside it first, so that the folder is there whole or not at all.

    Raises
    ------
    Conflict
        If the folder exists and isn't empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Conflict(f"{folder} is not empty; choose a new folder for the release.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        digest = _write(dataset, Writer(beside), progress)
        beside.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return digest


def _write(dataset: Dataset, writer: Writer, progress: Progress) -> str:
    result_set = results.default(dataset)
    runs = _runs(result_set)
    detectors = _detectors(result_set)
    items = list(dataset.items.order_by("key").prefetch_related("turns").select_related("image"))
    rows = [_record(item) for item in items]
    writer.jsonl(ITEMS, rows)
    withheld = _write_pictures(writer, items)
    software: dict[str, dict[str, str]] = {}
    writer.jsonl(RESPONSES, _responses(dataset, runs, software, progress))
    writer.jsonl(LABELS, _labels(runs, detectors, progress))
    validations = release_labels.closed_sets(dataset)
    writer.jsonl(HUMAN_LABELS, (row for validation in validations for row in release_labels.rows(validation)))
    writer.jsonl(ADJUDICATIONS, (row for validation in validations for row in release_labels.decisions(validation)))
    used = _write_prompts(writer, dataset, runs, list(detectors))
    if result_set is not None and detectors:
        _write_results(writer, frames.masks(result_set))
    writer.file("LICENSES.csv", _licenses(rows))
    facts = {
        "format": FORMAT,
        "dataset": dataset.name,
        "dataset_hash": records.dataset_hash(rows),
        "protocol": dataset.protocol,
        "result_set": result_set.name if result_set else None,
        "runs": [_run_facts(run) for run in runs],
        "detectors": [_detector_facts(detector, primary) for detector, primary in detectors.items()],
        "label_sets": [release_labels.facts(validation) for validation in validations],
        "prompts": used,
        "software": dict(sorted(software.items())),
    }
    writer.file("README.md", readme(facts, counts=writer.counts, withheld=withheld).encode())
    return writer.manifest(facts)


def _runs(result_set: ResultSet | None) -> list[Run]:
    if result_set is None:
        return []
    held = result_set.runs.select_related("run__model").order_by("model__name")
    return [row.run for row in held]


def _detectors(result_set: ResultSet | None) -> dict[Detector, bool]:
    if result_set is None:
        return {}
    return {row.detector: row.primary for row in result_set.held_detectors}


def _record(item: DatasetItem) -> dict[str, Any]:
    """The row of an item; without the name of a file where the licence keeps the pixels at home.

    A dataset names no such file from the day it is frozen or imported, so its hash is that of these rows.
    """
    row = item_record(item)
    return row if licences.classify(item.license, item.license_url) == Kind.OPEN else {**row, "image": None}


def _write_pictures(writer: Writer, items: list[DatasetItem]) -> int:
    """Write the pixels that may be passed on; returns of how many pictures they stay at home."""
    withheld = 0
    for item in items:
        if licences.classify(item.license, item.license_url) != Kind.OPEN:
            withheld += 1
        elif item.image is not None and item.image_name:
            with item.image.file.open("rb") as file:
                writer.file(f"images/{item.image_name}", file.read())
    return withheld


def _responses(
    dataset: Dataset, runs: list[Run], software: dict[str, dict[str, str]], progress: Progress
) -> Iterator[dict[str, Any]]:
    """Every planned turn of every run; the versions that its calls were made by are added to `software`."""
    kept = {row.pk: row for row in Software.objects.all()}
    for number, run in enumerate(runs):
        progress("Writing responses", number, len(runs))
        yield from _responses_of(dataset, run, kept, software)


def _responses_of(
    dataset: Dataset, run: Run, kept: dict[int, Software], software: dict[str, dict[str, str]]
) -> Iterator[dict[str, Any]]:
    """Every planned turn of a run, by item and turn: its answer, or why there is none."""
    keys = dict(dataset.items.order_by("key").values_list("id", "key"))
    dialogues = dict(Dialogue.objects.filter(run=run).values_list("item_id", "id"))
    answers = {
        (response.dialogue_id, response.turn): response
        for response in Response.objects.filter(dialogue__run=run).defer("raw")
    }
    last = {
        (attempt.dialogue_id, attempt.turn): attempt
        for attempt in Attempt.objects.filter(dialogue__run=run).order_by("id").defer("raw", "settings")
    }
    for item, key in keys.items():
        for turn in range(1, dataset.turns + 1):
            at = (dialogues.get(item, 0), turn)
            yield {
                "model": run.model.name,
                "family": run.model.family,
                "item": key,
                "turn": turn,
                **(_answer(answers[at]) if at in answers else _silence(last.get(at))),
                **_trace(last.get(at), kept, software),
            }


def _answer(response: Response) -> dict[str, Any]:
    return {
        "outcome": str(response.outcome),
        "response": response.text,
        "finish_reason": response.finish_reason,
        "reason": "",
        "model_answered": response.model_answered,
        **_tokens(response),
        "seconds": response.seconds,
    }


def _silence(attempt: Attempt | None) -> dict[str, Any]:
    """A turn without text; a text that an attempt brought before is never given as an answer."""
    if attempt is None:
        return {"outcome": "not_asked", "response": None, "reason": ""}
    told = {name: count for name, count in _tokens(attempt).items() if count is not None}
    return {"outcome": attempt.outcome, "response": None, "reason": attempt.reason or attempt.error, **told}


def _tokens(row: Response | Attempt) -> dict[str, int | None]:
    return {name: getattr(row, name) for name in TOKEN_COLUMNS}


def _trace(attempt: Attempt | None, kept: dict[int, Software], software: dict[str, dict[str, str]]) -> dict[str, Any]:
    """How and when the last call of a turn was made; nothing where only an import knows of it."""
    if attempt is None or not (attempt.request_id or attempt.image_sha256 or attempt.software_id):
        return {}
    row = kept.get(attempt.software_id or 0)
    if row is not None:
        software[row.short] = row.versions
    return {
        "request_id": attempt.request_id,
        "asked_at": _utc(attempt.started_at),
        "image_sha256": attempt.image_sha256,
        "request_sha256": attempt.request_sha256,
        "software": row.short if row else "",
    }


def _labels(runs: list[Run], detectors: dict[Detector, bool], progress: Progress) -> Iterator[dict[str, Any]]:
    slugs = {detector.pk: detector.slug for detector in detectors}
    for number, run in enumerate(runs):
        progress("Writing labels", number, len(runs))
        rows = DetectorLabel.objects.filter(dialogue__run=run, detector_id__in=list(slugs)).values_list(
            "dialogue__item__key", "turn", "detector_id", "detect"
        )
        made = [(key, turn, slugs[detector], detect) for key, turn, detector, detect in rows]
        for key, turn, slug, detect in sorted(made):
            yield {"model": run.model.name, "item": key, "turn": turn, "detector": slug, "detect": detect}


def _write_prompts(writer: Writer, dataset: Dataset, runs: list[Run], detectors: list[Detector]) -> dict[str, str]:
    """The prompts that were sent, from this installation or from the release the dataset came with."""
    carried = (dataset.manifest or {}).get("prompt_texts") or {}
    used: dict[str, str] = {}
    for name, version, digest in _prompts_sent(dataset, runs, detectors):
        known = f"{name}.v{version}.md"
        text = _own_prompt(known, digest) or carried.get(known)
        # Two labs count their own versions alike; the second of that number carries its hash.
        file = known if known not in used else f"{name}.v{version}-{digest[:8]}.md"
        if text is not None:
            writer.file(f"prompts/{file}", text.encode())
            used[file] = digest
    return used


def _prompts_sent(dataset: Dataset, runs: list[Run], detectors: list[Detector]) -> list[tuple[str, str, str]]:
    """Name, version and hash of each prompt behind the dataset's drafts, answers and labels."""
    drafts = Draft.objects.filter(item__in=dataset.items.values("source_item"), applied_at__lte=dataset.created_at)
    found = set(drafts.order_by().values_list("prompt_name", "prompt_version", "prompt_sha256").distinct())
    made_with: list[Run | Detector] = [*runs, *detectors]
    found |= {(row.prompt_name, row.prompt_version, row.prompt_sha256) for row in made_with}
    for name, digest in ((dataset.manifest or {}).get("prompts") or {}).items():
        if (match := prompts.FILE_NAME.fullmatch(name)) and name.startswith("draft_"):
            found.add((match["name"], match["version"], digest))
    return sorted(row for row in found if row[0] and row[2])


def _own_prompt(name: str, digest: str) -> str | None:
    match = prompts.FILE_NAME.fullmatch(name)
    if match is None or int(match["version"]) not in prompts.versions(match["name"]):
        return None
    prompt = prompts.load(match["name"], int(match["version"]))
    return prompt.text if prompt.sha256 == digest else None


def _write_results(writer: Writer, found: frames.Masks) -> None:
    for measure in frames.MEASURES:
        writer.file(f"tables/{measure}.csv", tables.as_csv(tables.published_shape(found, measure)).encode())
    rows = leaderboard.chart_rows(found, "corr_tp", "premise_class")
    last = found.false_turns[-1]
    figures = {
        "corr_tp_by_k": charts.curves_by_k(rows),
        "corr_tp_by_class": charts.bars_by_class([row for row in rows if row["k"] == last]),
    }
    for name, spec in figures.items():
        writer.file(f"figures/{name}.svg", charts.render(spec, "svg"))


def _licenses(rows: list[dict[str, Any]]) -> bytes:
    text = StringIO()
    writer = csv.DictWriter(text, _LICENSE_COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows({**row, "pixels": _pixels(row)} for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def _pixels(row: dict[str, Any]) -> str:
    """Whether the picture itself is in the release, and why not."""
    left_out = {Kind.NO_DERIVATIVES: "left out: no derivatives", Kind.UNKNOWN: "left out: licence unknown"}
    kind = licences.classify(row["license"], row["license_url"])
    return left_out.get(kind) or ("included" if row["image"] else "not there")


def _run_facts(run: Run) -> dict[str, Any]:
    return {
        "model": run.model.name,
        "family": run.model.family,
        "state": run.state,
        "settings": _published_settings(run.settings),
        "prompt_name": run.prompt_name,
        "prompt_version": run.prompt_version,
        "prompt_sha256": run.prompt_sha256,
        "software": run.software,
        "simulated": run.simulated,
        "started_at": _utc(run.started_at),
        "finished_at": _utc(run.finished_at),
    }


def _detector_facts(detector: Detector, primary: bool) -> dict[str, Any]:
    return {
        "slug": detector.slug,
        "version": detector.version,
        "name": detector.name,
        "settings": _published_settings(detector.settings()),
        "prompt_name": detector.prompt_name,
        "prompt_version": detector.prompt_version,
        "prompt_sha256": detector.prompt_sha256,
        "simulated": detector.simulated,
        "primary": primary,
    }


def _published_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without what is only this installation's: which variable holds the key."""
    return {name: value for name, value in settings.items() if name != "api_key_env"}


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
