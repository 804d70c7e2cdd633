"""A dataset of variants is run, labelled, read and released like any other, with CorrTP@4 alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.services import datasets, variant_freezing
from benchmark import frames
from benchmark.models import DetectorLabel, Response, Run
from benchmark.services import detectors, release_export, releases, results, runs
from fpco_site.errors import Invalid
from tests import factories
from tests import variants as written
from tests.engine import run_engine

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.db, pytest.mark.worker]


@pytest.fixture
def dataset(ada: User, ben: User, fast_engine: None) -> Dataset:
    """Two images of six variants, one scripted model over them, labelled by both rules detectors."""
    for category in ("animal", "food"):
        written.approve(written.chosen(ada, category=category), by=ben, author=ada)
    made = variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    runs.start(run=runs.create(model=factories.model("Scripted"), dataset=made, by=ada), by=ada)
    for strictness in ("strict", "lenient"):
        detector = detectors.create(
            by=ada,
            slug=f"rules-{strictness}",
            name=f"Rules, {strictness}",
            provider="rules",
            model_id=f"rules-{strictness}",
            options={"strictness": strictness},
        )
        detectors.request(detector=detector, dataset=made, by=ada)
    run_engine()
    return made


def test_it_is_run_labelled_and_measured_at_turn_four(dataset: Dataset) -> None:
    assert Run.objects.get().state == "complete"
    assert Response.objects.count() == 12 * 4
    assert DetectorLabel.objects.count() == 2 * 12 * 4
    found = frames.masks(results.default(dataset))
    assert (found.measured_turns("corr_tp"), found.measured_turns("corr_fp")) == ((4,), (1, 2, 3))
    numbers = frames.numbers(found)
    true = numbers[(numbers["measure"] == "corr_tp") & (numbers["level"] == "identity")]
    assert set(true["n"]) == {4}


def test_pages_of_results_runs_and_datasets_show_it(
    dataset: Dataset, as_: Callable[[User], Client], ada: User, rita: User
) -> None:
    run = Run.objects.get()
    paths = [
        reverse("dataset_list"),
        reverse("dataset_detail", args=[dataset.pk]),
        reverse("dataset_runs", args=[dataset.pk]),
        reverse("run_detail", args=[run.pk]),
        reverse("dialogue_detail", args=[run.dialogues.all()[0].pk]),
        reverse("overview"),
        reverse("agreement"),
    ]
    for measure in ("corr_tp", "turn_corr", "corr_fp"):
        for axis in ("premise_class", "complexity", "category"):
            paths.append(f"{reverse('results')}?dataset={dataset.pk}&measure={measure}&axis={axis}")
        paths.append(reverse("results_table", args=[dataset.pk, measure, "csv"]))
    for who in (ada, rita):
        client = as_(who)
        for path in paths:
            assert client.get(path).status_code == 200, (who.username, path)
    page = as_(rita).get(f"{reverse('results')}?dataset={dataset.pk}").content.decode()
    assert "CorrTP@4" in page
    assert "CorrTP@10" not in page


def test_it_is_released_verified_and_imported_with_parents_and_letters(dataset: Dataset, tmp_path: Path) -> None:
    first = tmp_path / "out"
    release_export.export(dataset=dataset, folder=first)
    call_command("verify_release", str(first))
    hashed, keys = dataset.dataset_hash, sorted(dataset.items.values_list("key", "parent", "variant"))
    call_command("flush", interactive=False, verbosity=0)
    releases.import_folder(folder=first, by=None)
    imported = Dataset.objects.get()
    assert (imported.dataset_hash, imported.turns, imported.false_turns) == (hashed, 4, [4])
    assert sorted(imported.items.values_list("key", "parent", "variant")) == keys
    release_export.export(dataset=imported, folder=tmp_path / "again")
    for path in first.rglob("*"):
        if path.is_file():
            again = tmp_path / "again" / path.relative_to(first)
            assert path.read_bytes() == again.read_bytes(), path.name


def test_a_variant_of_a_variant_is_refused(ada: User, tmp_path: Path) -> None:
    factories.item(state="approved")
    made = datasets.freeze(name="Pilot", by=ada)
    release_export.export(dataset=made, folder=tmp_path / "out")
    from tests.benchmark.test_releases import rewrite

    def nest(rows: list[dict[str, object]]) -> None:
        rows.append({**rows[0], "item": "v", "parent": rows[0]["item"], "variant": "A"})
        rows.append({**rows[0], "item": "w", "parent": "v", "variant": "A"})

    rewrite(tmp_path / "out", "items.jsonl", nest)
    with pytest.raises(Invalid, match="variants have none of their own"):
        releases.import_folder(folder=tmp_path / "out", by=None)
