"""A release of the published size gives the published tables (Must hold 1 of the pipeline)."""

import csv
import os
from pathlib import Path

import pytest
from django.core.management import call_command

from annotate.models import Dataset
from benchmark import published
from benchmark.models import DetectorLabel, Response
from tests import published_release

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.db, pytest.mark.full_size, pytest.mark.timeout(900)]
SHARE = int(os.environ.get("FPCO_RELEASE_SHARE", "1"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("release")
    published_release.write_release(made, seed=1, scale=1 / SHARE, shuffle=True)
    return made


def read(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["model"], row["k"]): row for row in csv.DictReader(file)}


def test_the_tables_of_an_imported_release_are_the_published_ones(folder: Path, tmp_path: Path) -> None:
    call_command("import_release", str(folder))
    assert Response.objects.count() == 216_000 // SHARE
    assert DetectorLabel.objects.count() == 432_000 // SHARE
    name = Dataset.objects.get().name
    call_command("export_tables", str(tmp_path / "exact"), dataset=name)
    call_command("export_tables", str(tmp_path / "published"), dataset=name, rounding="published")
    for measure in published.TABLES:
        exact = read(tmp_path / "exact" / f"{measure}.csv")
        assert len(exact) == 20 * (3 if measure == "corr_fp" else 7)
        check_exact_means(measure, exact)
        if SHARE == 1:
            check_published(measure, exact, read(tmp_path / "published" / f"{measure}.csv"))


def check_published(
    measure: str, exact: dict[tuple[str, str], dict[str, str]], rounded: dict[tuple[str, str], dict[str, str]]
) -> None:
    paper = {(row["model"], row["k"]): row for row in published.table(measure)}
    assert rounded == paper
    detectors = [name for name in next(iter(paper.values())) if name.endswith(("_gpt", "_gemini"))]
    for key, row in paper.items():
        assert {name: exact[key][name] for name in detectors} == {name: row[name] for name in detectors}


def check_exact_means(measure: str, exact: dict[tuple[str, str], dict[str, str]]) -> None:
    """Avg is the mean of the labels: counted here from the made labels themselves."""
    items = [item for item in published_release.made_items() if item.number % 30 < 30 // SHARE]
    labels = published_release.made_labels(1)
    names = [model.name for model in published.models()]
    for (model, k), row in exact.items():
        cutoff = int(k)
        turns = {"corr_tp": range(4, cutoff + 1), "turn_corr": [cutoff], "corr_fp": range(1, cutoff + 1)}[measure]
        for level in ("overall", *published.PREMISE_CLASSES):
            chosen = [item.number for item in items if level in ("overall", item.premise_class)]
            seen = labels[names.index(model)][chosen][:, [turn - 1 for turn in turns], :]
            assert row[f"{level}_avg"] == f"{int(seen.sum()) / 2 / (seen.size / 2):.3f}"
