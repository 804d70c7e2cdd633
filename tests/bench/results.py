"""Results of the published size: from labels to patterns, counts, bootstraps and pages.

DuckDB, against which counting is measured, is put into an environment of its own below `.tools`.
"""

import csv
import gc
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmark.statistics.patterns import ItemCounts, cumulative_windows, mean_item_counts, single_windows
from fpco_site.devtools import bootstrap
from tests import published_release, services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
VERSION = "2.0.1"
HOME = ROOT / ".tools" / f"duckdb-{VERSION}"
REPEATS = 9
LOOPS = 20  # repetitions of the loop in pandas, which would take minutes for all
PAGES = ("results", "leaderboard")
Row = tuple[str, float, str, str]


def bench(servers: Servers) -> list[Figure]:
    """All of it in one process, over a database of its own."""
    python = environment()
    with services.temporary_folder() as folder:
        env = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        env |= {"FPCO_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "fpco_site.settings"}
        env |= {"CELERY_BROKER_URL": servers.broker}
        command = [sys.executable, "-m", "tests.bench.results", str(python)]
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True)
    return [Figure(*row) for row in json.loads(done.stdout)]


def environment() -> Path:
    """The Python of an environment with this DuckDB, made where it is missing."""
    python = HOME / "bin" / "python"
    if not (HOME / "complete").exists():
        uv = bootstrap.find_uv()
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), f"duckdb=={VERSION}"], check=True)
        (HOME / "complete").touch()
    return python


def main(python: str) -> None:
    """Import a release of the published size, then measure everything over it."""
    import django

    django.setup()
    logging.disable(logging.WARNING)
    from django.conf import settings
    from django.core.management import call_command

    from fpco_site import static_files

    folder = Path(settings.DATA_DIR)
    call_command("migrate", interactive=False, verbosity=0)
    static_files.collect_if_changed()
    published_release.write_release(folder / "release", seed=1)
    call_command("import_release", str(folder / "release"), stdout=sys.stderr)
    # A server's process doesn't hold what an import left, nor look through it for garbage.
    gc.collect()
    gc.freeze()
    sys.stdout.write(json.dumps([*rebuilding(), *counting(python, folder), *bootstraps(), *pages()]))


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock, and of this process's processor time, which other programs change less."""

    seconds: float
    processor: float
    made: Any


def timed(work: Callable[[], Any]) -> Taken:
    begun, processor = time.perf_counter(), time.process_time()
    made = work()
    return Taken(time.perf_counter() - begun, time.process_time() - processor, made)


def middle(taken: Sequence[Taken]) -> tuple[float, str]:
    """The median by the clock, and the median of processor time in words."""
    return median(one.seconds for one in taken), f"processor time {median(one.processor for one in taken):.3f} s"


def result_set() -> Any:
    from annotate.models import Dataset
    from benchmark.services import results

    return results.default(Dataset.objects.get())


# Patterns -----------------------------------------------------------------------------------------------------------


def rebuilding() -> list[Row]:
    from benchmark.models import DetectorLabel, Run
    from benchmark.services import patterns

    times = []
    for _ in range(3):
        Run.objects.update(patterns_dirty=True)
        times.append(timed(lambda: patterns.refresh(runs=list(Run.objects.all()))))
    seconds, processor = middle(times)
    over = f"{Run.objects.count()} models, {DetectorLabel.objects.count():,} labels, SQLite, synchronous=FULL"
    on = f"bound: 2; {processor}; {over}"
    return [("rebuilding all patterns from labels", seconds, "s", on)]


# Counts -------------------------------------------------------------------------------------------------------------


def counting(python: str, folder: Path) -> list[Row]:
    """From stored patterns to every count, against a query in DuckDB over the same labels in Parquet."""
    from benchmark.models import Detector

    first, second = Detector.objects.order_by("id").values_list("slug", flat=True)
    write_labels(folder / "labels.csv")
    ours = [timed(all_counts) for _ in range(REPEATS)]
    task = Path(__file__).with_name("_duckdb_task.py")
    command = [python, "-P", str(task), str(folder / "labels.csv"), str(folder), first, second]
    theirs = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    compare(ours[0].made, json.loads((folder / "counts.json").read_text()))
    seconds, processor = middle(ours)
    on = "each model, detector and mean, turn and cutoff, class, complexity, category and overall"
    return [
        ("from stored patterns to all counts", seconds, "s", f"{processor}; {on}"),
        (f"DuckDB {VERSION}: from labels in Parquet to all counts", theirs["median"], "s", on),
        ("ours / DuckDB", seconds / theirs["median"], "x", "bound: 1; medians of nine, one after the other"),
    ]


def write_labels(path: Path) -> None:
    """Every label with what the counts are grouped by, one row each."""
    from django.db import connection

    with connection.cursor() as cursor, path.open("w", newline="") as file:
        cursor.execute(
            "SELECT run.model_id, dialogue.item_id, label.turn, item.premise_class, item.complexity, item.category, "
            "detector.slug, label.detect + 0 FROM benchmark_detectorlabel AS label "
            "JOIN benchmark_dialogue AS dialogue ON dialogue.id = label.dialogue_id "
            "JOIN benchmark_run AS run ON run.id = dialogue.run_id "
            "JOIN annotate_datasetitem AS item ON item.id = dialogue.item_id "
            "JOIN benchmark_detector AS detector ON detector.id = label.detector_id"
        )
        writer = csv.writer(file)
        writer.writerow(["model", "item", "turn", "premise_class", "complexity", "category", "detector", "detect"])
        writer.writerows(cursor.fetchall())


def all_counts() -> dict[tuple[str, str], ItemCounts]:
    """Counts by measure and column, arrays of shape (model, turn, level); nothing is taken from what is kept."""
    from django.db import transaction

    from benchmark import frames

    with transaction.atomic():
        found = frames.masks(result_set())
    held = np.stack(list(all_levels(found).values())).T.astype(np.float64)
    made = {}
    for measure in frames.MEASURES:
        turns = found.measured_turns(measure)
        windows = single_windows(turns) if measure == "turn_corr" else cumulative_windows(turns)
        for column in found.columns:
            at = frames.chosen_detectors(found, column)
            counts = mean_item_counts(
                [found.labelled[:, one] for one in at], [found.correction[:, one] for one in at], windows
            )
            made[measure, column] = ItemCounts(counts.n @ held, counts.corrections @ held)
    return made


def all_levels(found: Any) -> dict[str, Any]:
    from benchmark import frames

    return {name: keep for axis in frames.BREAKDOWNS for name, keep in frames.levels(found, axis).items()}


def compare(ours: dict[tuple[str, str], ItemCounts], theirs: list[list[Any]]) -> None:
    """Both must say the same, count by count."""
    from benchmark import frames

    found = frames.masks(result_set())
    levels = list(all_levels(found))
    ids = dict(result_set().runs.values_list("run_id", "model_id"))
    row_of = {ids[model.run_id]: at for at, model in enumerate(found.models)}
    for model, turn, level, *counts in theirs:
        at = row_of[int(model)], 0, levels.index(level)
        cumulative = "corr_tp" if turn in found.false_turns else "corr_fp"
        singles = [("turn_corr", counts[:6])] if turn in found.false_turns else []
        for measure, row in [*singles, (cumulative, counts[6:])]:
            place = at[0], found.measured_turns(measure).index(int(turn)), at[2]
            for column, n, corrections in zip(found.columns, row[::2], row[1::2], strict=True):
                counted = ours[measure, column]
                if (counted.n[place], counted.corrections[place]) != (n, corrections):
                    raise RuntimeError(f"DuckDB counts otherwise: {measure} {column} {model} {turn} {level}")


# Bootstraps ---------------------------------------------------------------------------------------------------------


def bootstraps() -> list[Row]:
    """The study's ten bootstraps by cell, against the same in a plain loop in pandas."""
    from benchmark.analyses import stratified

    parameters = {"label": "mean"}
    inputs = stratified.read(result_set(), parameters)
    times = [timed(lambda: stratified.run(inputs, parameters, np.random.default_rng(1))) for _ in range(3)]
    seconds, processor = middle(times)
    table = rates_by_dialogue(inputs)
    looped = timed(lambda: [loop_once(table, size, seed) for seed, size in enumerate(stratified.SIZES * 4)]).seconds
    repetitions = 2 * len(stratified.SIZES) * stratified.REPETITIONS
    plain = looped / LOOPS * repetitions
    on = f"{repetitions:,} repetitions, {len(inputs.labels.models)} models, {len(inputs.cells):,} images"
    return [
        ("the ten bootstraps by cell", seconds, "s", f"bound: 5; {processor}; {on}"),
        ("a plain loop in pandas", plain, "s", f"from {LOOPS} repetitions; {on}"),
        ("loop in pandas / ours", plain / seconds, "x", "bound: 50"),
    ]


def rates_by_dialogue(inputs: Any) -> Any:
    """One row a model and dialogue, with what a loop needs."""
    import pandas as pd

    counts = inputs.labels.counts(inputs.detectors, [inputs.labels.false_window()])
    models, _, images = counts.n.shape
    return pd.DataFrame(
        {
            "model": np.repeat(np.arange(models), images),
            "image": np.tile(np.arange(images), models),
            "cell": np.tile(inputs.cells, models),
            "premise_class": np.tile(inputs.classes, models),
            "n": counts.n.ravel(),
            "corrections": counts.corrections.ravel(),
        }
    )


def loop_once(table: Any, size: int, seed: int) -> bool:
    """Draw images of each cell, join their dialogues, and see whether the means over models keep the ordering."""
    images = table[table.model == 0][["image", "cell"]]
    drawn = images.groupby("cell").sample(n=size, replace=True, random_state=seed)
    joined = drawn[["image"]].merge(table, on="image")
    sums = joined.groupby(["model", "premise_class"])[["n", "corrections"]].sum()
    means = (sums.corrections / sums.n).groupby("premise_class").mean()
    return bool(means["identity"] > means["attribute"] > means["location"])


# Pages --------------------------------------------------------------------------------------------------------------


def pages() -> list[Row]:
    """Server time of pages, every middleware included, with counts built and when a label has just changed."""
    from django.test import Client
    from django.urls import reverse

    from tests import factories

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(factories.person("rita", role="reader"))
    rows: list[Row] = []
    for name in PAGES:
        path = reverse(name)
        look(client, path)
        built = [look(client, path) for _ in range(REPEATS)]
        changed = []
        for at in range(5):
            change_label(at)
            changed.append(look(client, path))
        on = "20 models, 216,000 answers, 432,000 labels, SQLite"
        rows += [
            _page(f"page {name}, counts built", built, f"bound: 100; {on}"),
            _page(f"page {name}, a label has just changed", changed, f"bound: 1,500; {on}"),
        ]
    return rows


def _page(name: str, views: Sequence[Taken], on: str) -> Row:
    seconds, processor = middle(views)
    slowest = 1000 * max(view.seconds for view in views)
    return f"{name}, median", 1000 * seconds, "ms", f"slowest {slowest:.0f} ms; {processor}; {on}"


def look(client: Any, path: str) -> Taken:
    """One view."""
    taken = timed(lambda: client.get(path))
    if taken.made.status_code != 200:
        raise RuntimeError(f"{path}: {taken.made.status_code}")
    return taken


def change_label(at: int) -> None:
    """Another verdict in place of a stored one, as a detector that is asked again leaves it."""
    from django.db import transaction

    from benchmark.models import DetectorLabel, Run

    with transaction.atomic():
        label = DetectorLabel.objects.order_by("id").select_related("dialogue")[20_000 * at]
        run = label.dialogue.run_id
        label.delete()
        label.pk, label.detect = None, not label.detect
        label.save(force_insert=True)
        Run.objects.filter(pk=run).update(patterns_dirty=True)


if __name__ == "__main__":
    main(sys.argv[1])
