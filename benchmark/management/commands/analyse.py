"""`manage.py analyse self_scoring --dataset Pilot --set first_is=GPT-5.4 --out results/`; without a kind, all."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models import Dataset, LabelSet
from annotate.models.labels import LabelSetState
from benchmark import analysis_page
from benchmark.analyses import KINDS
from benchmark.charts import paper
from benchmark.management.finding import dataset_named
from benchmark.models import Analysis, ResultSet
from benchmark.models.results import AnalysisState
from benchmark.services import analyses, results
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = (
        "Run analyses of a dataset's default result set here and now, or find them stored. Without a kind: every kind, "
        "and what can't be analysed is said and left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
        parser.add_argument("--dataset", metavar="NAME", help="a dataset's name (default: the newest with results)")
        parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", dest="given", help="parameters")
        parser.add_argument("--seed", type=int, help=f"of what is drawn (default: {analyses.SEED})")
        parser.add_argument("--out", type=Path, metavar="DIR", help="write tables, figures and all of it as JSON there")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result_set = _result_set(options["dataset"])
            given = dict(_pair(text) for text in options["given"])
            if not options["kinds"] and given:
                raise Invalid("Parameters are those of one kind: name it.")
            for kind in options["kinds"]:
                self._tell(self._run(kind, result_set, given, options))
            if not options["kinds"]:
                self._run_all(result_set, options)
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{options['out']} can't be written ({error.strerror}).") from error

    def _run_all(self, result_set: ResultSet, options: dict[str, Any]) -> None:
        for kind in KINDS:
            try:
                self._tell(self._run(kind, result_set, {}, options))
            except Invalid as error:
                self.stdout.write(f"{kind}: left out. {error.message}")

    def _run(self, kind: str, result_set: ResultSet, given: dict[str, str], options: dict[str, Any]) -> Analysis:
        if analyses.kind_of(kind).unblinded:
            _require_closed(result_set.dataset)
        row = analyses.request(kind=kind, result_set=result_set, parameters=given, seed=options["seed"], by=None)
        if row.state == AnalysisState.WAITING:
            analyses.run(analysis=row)
            row.refresh_from_db()
        if row.state == AnalysisState.FAILED:
            raise CommandError(f"{kind} failed: {row.error}")
        if row.state == AnalysisState.DONE and options["out"]:
            self.stdout.write("\n".join(str(path) for path in _write(row, options["out"])))
        return row

    def _tell(self, row: Analysis) -> None:
        if row.state == AnalysisState.DONE:
            words = [part.section.words for part in analysis_page.parts(row)]
            self.stdout.write(f"{row.kind}: {words[0] if words else 'done'}")
        else:
            self.stdout.write(f"{row.kind}: a worker runs it.")


def _result_set(name: str | None) -> ResultSet:
    dataset = dataset_named(name) if name else results.newest_dataset()
    found = results.default(dataset) if dataset else None
    if found is None:
        raise Invalid("Nothing has run over this dataset yet, so there is nothing to analyse.")
    return found


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise Invalid(f"A parameter is given as NAME=VALUE, not as {text!r}.")
    return name, value


def _require_closed(dataset: Dataset) -> None:
    """The command knows no person, so what tells of people's labels is told once nobody labels any more."""
    if LabelSet.objects.filter(dataset=dataset, state=LabelSetState.OPEN).exists():
        raise Invalid(f"People still label {dataset.name}: this is told when their labels are locked.")


def _write(row: Analysis, folder: Path) -> list[Path]:
    """Every table as CSV, every figure as SVG, and all of it as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {f"{row.kind}.json": analysis_page.as_json(row).encode()}
    for part in analysis_page.parts(row):
        if part.has_table:
            files[f"{row.kind}-{part.number}.csv"] = analysis_page.as_csv(part.section).encode()
        if part.section.figure is not None:
            files[f"{row.kind}-{part.number}.svg"] = paper.figure(part.section.figure, "svg", "double")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]
