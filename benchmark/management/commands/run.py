"""Run a model over a dataset."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.management import waiting
from benchmark.management.finding import dataset_named, model_named
from benchmark.management.waiting import Standing
from benchmark.models import Response, Run
from benchmark.models.runs import RunState
from benchmark.services import runs
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = (
        "Run a model over a dataset: start a run, or go on with the one that is open. "
        "With --wait: show progress and exit 0 only when every dialogue is complete."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a model's name")
        parser.add_argument("dataset", metavar="DATASET", help="a dataset's name")
        parser.add_argument("--concurrency", type=int, help="dialogues at once (default: the model's)")
        parser.add_argument("--wait", action="store_true", help="until it ends; works here where no worker does")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = self._run(options)
        except FpcoError as error:
            raise CommandError(error.message) from error
        if not options["wait"]:
            self.stdout.write(f"Run {run.pk} of {run.model} over {run.dataset} is {run.get_state_display()}.")
            return
        try:
            waiting.wait(f"{run.model} over {run.dataset}", lambda: _standing(run), asked=[run.endpoint().provider])
        except KeyboardInterrupt:
            raise CommandError(f"Left run {run.pk} as it is; the same command goes on with it.") from None
        self._conclude(Run.objects.get(pk=run.pk))

    def _run(self, options: dict[str, Any]) -> Run:
        """A new run, started; with --wait also the open one, as a command that was ended goes on."""
        model, dataset = model_named(options["model"]), dataset_named(options["dataset"])
        found = (
            Run.objects.filter(model=model, dataset=dataset, state__in=runs.OPEN).first() if options["wait"] else None
        )
        if found is not None and found.state == RunState.RUNNING:
            return found
        if found is not None and found.state == RunState.PAUSED:
            return runs.resume(run=found, by=None)
        run = found or runs.create(model=model, dataset=dataset, by=None, concurrency=options["concurrency"])
        return runs.start(run=run, by=None)

    def _conclude(self, run: Run) -> None:
        if run.state == RunState.COMPLETE:
            self.stdout.write(f"Run {run.pk} is complete.")
            return
        if run.state == RunState.PAUSED:
            raise CommandError(f"Run {run.pk} is paused. {run.pause_reason}")
        ended = run.dialogues.exclude(state="complete").count()
        raise CommandError(f"Run {run.pk} is {run.get_state_display()}: {ended} dialogues are not complete.")


def _standing(run: Run) -> Standing:
    run.refresh_from_db(fields=["state", "pause_reason"])
    answered = Response.objects.filter(dialogue__run=run).count()
    total = run.dialogues.count() * run.dataset.turns
    return Standing(answered, total, note="turns", over=run.state != RunState.RUNNING)
