"""From labels to numbers: patterns, frames, tables; what counts, and what is undefined."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotate.models import User
from benchmark import frames, tables
from benchmark.models import Pattern, Response, ResultSet, Run
from benchmark.services import patterns, results
from fpco_site.errors import Invalid
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]


def corrects_late(response: Response) -> bool:
    return response.turn >= 6


def labelled_run(**more: object) -> Run:
    """One run over three items, one of each class; `strict` sees every turn from 6, `lenient` none."""
    run = factories.run(dataset=factories.dataset(items=3), answered=10, state="complete", **more)
    factories.detector_labels(factories.detector("strict"), run, corrects_late)
    factories.detector_labels(factories.detector("lenient"), run, False)
    return run


def found_masks(run: Run) -> frames.Masks:
    result_set = results.default(run.dataset)
    assert result_set is not None
    return frames.masks(result_set)


def test_a_pattern_has_a_bit_for_each_labelled_turn_and_each_correction() -> None:
    run = labelled_run()
    assert patterns.rebuild(run=run) == 6
    strict = Pattern.objects.filter(detector__slug="strict")
    assert set(strict.values_list("labelled", "correction")) == {(0b11_1111_1111, 0b11_1110_0000)}


def test_a_new_label_marks_the_run_and_the_next_reader_sees_it() -> None:
    run = labelled_run()
    assert found_masks(run).labelled.any()
    assert not Run.objects.get(pk=run.pk).patterns_dirty
    factories.detector_labels(factories.detector("third"), run, True)
    assert found_masks(run).columns == ["strict", "lenient", "third", "avg"]
    assert found_masks(run).correction[0, 2].tolist() == [0b11_1111_1111] * 3


def test_rates_are_corrections_over_labels_up_to_each_cutoff() -> None:
    found = found_masks(labelled_run())
    by_k = {
        (cell.column, cell.k): cell.estimate for cell in frames.cells(found, "corr_tp") if cell.level == frames.OVERALL
    }
    # Turns 6, 7 of 4..7 are corrections on three items: 6 of 12 labels; the pair's mean is half of it.
    assert (by_k["strict", 7].corrections, by_k["strict", 7].n) == (6, 12)
    assert by_k["strict", 7].value == 0.5
    assert by_k["avg", 7].value == 0.25
    assert by_k["strict", 5].value == 0.0


def test_a_rate_without_labels_is_undefined_and_prints_as_nothing() -> None:
    run = factories.run(dataset=factories.dataset(items=1), answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), run, True)
    found = found_masks(run)
    cell = next(cell for cell in frames.cells(found, "corr_tp") if cell.level == "location")
    assert (cell.estimate.value, cell.estimate.n, cell.planned) == (None, 0, 0)
    assert cell.estimate.reason
    assert tables.published_shape(found, "corr_tp")[0]["location_strict"] == ""


def test_a_missing_label_leaves_a_gap_that_is_shown_both_ways() -> None:
    run = factories.run(dataset=factories.dataset(items=1), answered=5, state="incomplete")
    factories.detector_labels(factories.detector("strict"), run, True)
    cell = frames.cells(found_masks(run), "corr_tp", only_k=10)[0]
    assert (cell.estimate.value, cell.estimate.n) == (1.0, 2)
    assert (cell.filled, cell.planned, cell.complete) == (pytest.approx(2 / 7), 7, False)


def test_the_default_set_follows_new_runs_and_leaves_the_old_set_as_it_was() -> None:
    run = labelled_run()
    first = results.default(run.dataset)
    assert results.default(run.dataset) == first
    second_run = factories.run(dataset=run.dataset, answered=10, state="complete")
    second = results.default(run.dataset)
    assert second is not None
    assert first is not None
    assert second.pk != first.pk
    assert set(second.runs.values_list("run_id", flat=True)) == {run.pk, second_run.pk}
    assert set(first.runs.values_list("run_id", flat=True)) == {run.pk}


def test_a_newer_run_of_a_model_counts_once_it_has_ended() -> None:
    run = labelled_run()
    going = factories.run(dataset=run.dataset, model=run.model, state="running")
    assert [held.pk for held in results.counting_runs(run.dataset)] == [run.pk]
    Run.objects.filter(pk=going.pk).update(state="complete")
    assert [held.pk for held in results.counting_runs(run.dataset)] == [going.pk]


def test_a_declared_set_stays_the_default(ada: User) -> None:
    run = labelled_run()
    made = results.create(dataset=run.dataset, name="Paper", runs=[run], detectors=[], by=ada)
    factories.run(dataset=run.dataset, answered=10, state="complete")
    assert results.default(run.dataset) == made
    with pytest.raises(Invalid, match="already has a result set named 'Paper'"):
        results.create(dataset=run.dataset, name=" Paper ", runs=[run], detectors=[], by=ada)


def test_a_dataset_without_runs_has_no_result_set() -> None:
    assert results.default(factories.dataset()) is None
    assert not ResultSet.objects.exists()


def test_the_command_writes_the_three_tables_with_the_detectors_slugs(tmp_path: Path) -> None:
    run = labelled_run()
    call_command("export_tables", str(tmp_path), dataset=run.dataset.name)
    lines = (tmp_path / "corr_tp.csv").read_text().splitlines()
    assert lines[0].startswith("model,k,overall_strict,overall_lenient,overall_avg,identity_strict")
    assert lines[-1].startswith(f"{run.model.name},10,0.714,0.000,0.357")
    assert len((tmp_path / "corr_fp.csv").read_text().splitlines()) == 1 + 3


def test_the_published_rounding_averages_the_printed_cells(tmp_path: Path) -> None:
    run = labelled_run()
    call_command("export_tables", str(tmp_path), dataset=run.dataset.name, rounding="published")
    last = (tmp_path / "corr_tp.csv").read_text().splitlines()[-1]
    assert last.startswith(f"{run.model.name},10,0.714,0.000,0.357")


def test_the_command_says_in_one_sentence_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no dataset named 'x'"):
        call_command("export_tables", str(tmp_path), dataset="x")
    run = factories.run(answered=10, state="complete")
    factories.detector_labels(factories.detector(), run)
    with pytest.raises(CommandError, match="no such pair"):
        call_command("export_tables", str(tmp_path), rounding="published")
