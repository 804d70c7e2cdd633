"""What a report's numbers rest on: dataset, runs, detectors, draws, software, and the hashes of all of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from annotate.records import canonical
from benchmark.frames_agreement import Frame
from benchmark.models import Analysis, Attempt, DetectionJob, Detector, ResultSet, Run, Software, ValidationSet
from benchmark.printed import Printed
from benchmark.study_tables import Study

type Facts = list[tuple[str, str]]

NONE = "–"
# Of an endpoint's settings: what has a column of its own, or is only this installation's.
_TOLD_APART = {"provider", "model_id", "api_key_env"}
DESIGNS = {
    "model_class": ", drawn by model and class",
    "random": ", drawn at random",
    "label": ", drawn by detector label",
    "disagreement": ", drawn by disagreement of detectors",
}


def summary(study: Study) -> str:
    """How much there is, in one line."""
    found = study.masks
    return (
        f"{len(found.models)} models, {len(found.items):,} dialogues of {found.turns} turns, "
        f"{len(found.detectors)} detectors"
    )


def facts(study: Study) -> Facts:
    """The dataset, what counts of it, and how the means are made."""
    found, dataset = study.masks, study.result_set.dataset
    primary = " and ".join(found.detectors[at].name for at in found.primary)
    made_up = [model.name for model in found.models if model.simulated]
    made_up += [detector.name for detector in found.detectors if detector.simulated]
    return [
        ("Dataset", dataset.name),
        ("Dataset hash", dataset.dataset_hash),
        ("Dialogues", f"{len(found.items):,}"),
        ("False-premise turns", f"{_span(found.false_turns)} of {found.turns}"),
        ("Result set", study.result_set.name),
        ("Labels hash", labels_sha256(study)),
        ("Mean of", primary or NONE),
        ("Rounding of means", "as the paper prints them" if study.rounding == "published" else "exact"),
        *([("Simulated", f"{', '.join(made_up)}: not from a real model or detector")] if made_up else []),
    ]


def labels_sha256(study: Study) -> str:
    """The sha256 of every label that counts, under names that another installation knows too."""
    found = study.masks
    keys = dict(study.result_set.dataset.items.values_list("id", "key"))
    held = [row.detector for row in study.result_set.held_detectors]
    record = {
        "dataset": study.result_set.dataset.dataset_hash,
        "models": [model.name for model in found.models],
        "detectors": [[detector.slug, detector.version] for detector in held],
        "items": [keys[item] for item in found.items],
        "labelled": found.labelled.tolist(),
        "correction": (found.correction & found.labelled).tolist(),
    }
    return sha256(canonical(record).encode()).hexdigest()


def hashes(study: Study, made: Mapping[str, Printed], prompts: Mapping[str, str]) -> Printed:
    """Names with their sha256: dataset, labels, each table's CSV, each prompt."""
    rows = [
        ("Dataset", study.result_set.dataset.dataset_hash),
        ("Labels", labels_sha256(study)),
        *((f"Table {table.name}.csv", sha256(table.csv.encode()).hexdigest()) for table in made.values()),
        *((f"Prompt {name}", digest) for name, digest in sorted(prompts.items())),
    ]
    return words("hashes", ["What", "SHA-256"], rows)


def prompts(result_set: ResultSet) -> dict[str, str]:
    """The prompts that were sent, by name and version, with their hashes."""
    asked: list[Run | Detector] = [row.run for row in result_set.held_runs]
    asked += [row.detector for row in result_set.held_detectors]
    return {f"{row.prompt_name}.v{row.prompt_version}": row.prompt_sha256 for row in asked if row.prompt_sha256}


def runs(result_set: ResultSet) -> Printed:
    """How each model was asked, and when."""
    rows = []
    for held in result_set.held_runs:
        run, model = held.run, held.model
        name = f"{model.name} (simulated)" if run.simulated else model.name
        endpoint = run.settings.get("model_id") or ("imported" if run.imported else NONE)
        prompt = f"{run.prompt_name}.v{run.prompt_version}" if run.prompt_name else NONE
        rows.append((name, model.family or NONE, endpoint, said(run.settings), prompt, run.state, *dates(run)))
    return words("models", ["Model", "Family", "Asked as", "Settings", "Prompt", "State", "Started", "Ended"], rows)


def detectors(result_set: ResultSet) -> Printed:
    """How each detector was asked, and when over this dataset."""
    jobs = {job.detector_id: job for job in DetectionJob.objects.filter(dataset=result_set.dataset_id)}
    rows = []
    for held in result_set.held_detectors:
        row, job = held.detector, jobs.get(held.detector_id)
        name = f"{row} (simulated)" if row.simulated else str(row)
        prompt = f"{row.prompt_name}.v{row.prompt_version}" if row.prompt_name else NONE
        # Of an imported detector only its labels are known; its row was made by the import.
        asked = ("imported", NONE) if row.imported else (row.model_id or NONE, said(row.settings()))
        counted = "yes" if held.primary else "no"
        rows.append(
            (name, f"{row.slug}, v{row.version}", *asked, prompt, counted, *dates(None if row.imported else job))
        )
    heads = ["Detector", "Version", "Asked as", "Settings", "Prompt", "In the mean", "Started", "Ended"]
    return words("detectors", heads, rows)


def software(result_set: ResultSet) -> Facts:
    """The versions that made the calls of these runs, each set once."""
    held = Attempt.objects.filter(dialogue__run__in=result_set.runs.values("run"), software__isnull=False)
    rows = Software.objects.filter(pk__in=held.order_by().values("software").distinct()).order_by("sha256")
    return [(row.short, str(row)) for row in rows]


def drawn(row: ValidationSet, found: Frame) -> Facts:
    """How a validation set was drawn and labelled. No seed: it tells who still labels where an answer comes from."""
    label_set = row.label_set
    design = DESIGNS.get(row.design.get("kind", ""), "")
    raters = ", ".join(f"{rater.name} ({rater.given:,} labels)" for rater in found.raters)
    return [
        ("Label set", f"{label_set.name}, {label_set.state}"),
        (
            "Answers",
            f"{found.n:,} to false-premise turns, of {found.images_shown:,} images{design}",
        ),
        ("Mode", "pool" if found.pooled else "crossed: everybody labels all"),
        ("Raters", raters),
        *([("Simulated", "some of these labels are no real person's or detector's")] if found.simulated else []),
    ]


def stored(row: Analysis) -> Facts:
    """What an analysis was made of and with."""
    given = "; ".join(f"{name} {value}" for name, value in sorted(row.parameters.items()))
    return [
        ("Result set", row.result_set.name),
        *([("Parameters", given)] if given else []),
        *([("Seed", str(row.seed))] if row.seed is not None else []),
        ("Hash of its inputs", row.inputs_sha256),
        ("Versions", ", ".join(f"{name} {version}" for name, version in sorted(row.software.items())) or NONE),
        ("Stored", day(row.finished_at)),
    ]


def said(settings: Mapping[str, Any]) -> str:
    """Settings as words, without those that are empty or told apart."""
    flat = {**settings, **(settings.get("options") or {})}
    shown = {name: value for name, value in flat.items() if name not in {*_TOLD_APART, "options"}}
    return (
        "; ".join(f"{name} {value}" for name, value in sorted(shown.items()) if value not in (None, "", {}, [])) or NONE
    )


def dates(of: Run | DetectionJob | None) -> tuple[str, str]:
    """When work began and ended."""
    return (NONE, NONE) if of is None else (day(of.started_at), day(of.finished_at))


def day(moment: datetime | None) -> str:
    """A moment to the minute, in UTC."""
    return NONE if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def words(name: str, heads: list[str], rows: Iterable[tuple[str, ...]]) -> Printed:
    """A table of words alone."""
    cells = [list(row) for row in rows]
    return Printed(name, "", [dict(zip(heads, row, strict=True)) for row in cells], heads, cells, words=len(heads))


def _span(turns: tuple[int, ...]) -> str:
    """Turns in words: `4 to 10` where they follow each other."""
    if len(turns) > 1 and turns == tuple(range(turns[0], turns[-1] + 1)):
        return f"{turns[0]} to {turns[-1]}"
    return ", ".join(map(str, turns)) or "none"
