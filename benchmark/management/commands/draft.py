"""Have a drafter draft questions and false premises."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate import draft_progress
from annotate.axes import Cell
from annotate.models import Drafter, DraftJob, Item
from annotate.models.drafts import DraftJobState, DraftScope, JobKind
from annotate.services import draft_jobs, drafters
from annotate.services.draft_jobs import Wish
from benchmark.management import waiting
from benchmark.management.finding import drafter_named, item_named
from benchmark.management.waiting import Standing
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = (
        "Have drafts made of one item, a cell, or all that wait; a job of the same wish that is open goes on. "
        "With --wait: show progress and exit 0 only when every draft can be used. "
        "Drafts are put into items by people, in the browser."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", choices=JobKind.values, default=JobKind.BOTH, help="what is drafted (both)")
        scope = parser.add_mutually_exclusive_group(required=True)
        scope.add_argument("--all", action="store_true", help="all items that wait for it")
        scope.add_argument("--cell", metavar="A/B/C", help="those of a cell: complexity/category/premise_class")
        scope.add_argument("--item", metavar="KEY", help="one item, whatever it holds")
        parser.add_argument("--drafter", metavar="NAME", default="", help="a drafter's name (the offline one)")
        parser.add_argument("--alternatives", type=int, default=1, metavar="N", help="drafts of each, 1 to 3 (1)")
        parser.add_argument("--wait", action="store_true", help="until it ends; works here where no worker does")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            drafter = drafter_named(options["drafter"]) if options["drafter"] else drafters.default()
            job = self._job(_wish(options), drafter)
        except FpcoError as error:
            raise CommandError(error.message) from error
        if job is None:
            self.stdout.write("Nothing waits for such a draft.")
            return
        if not options["wait"]:
            self.stdout.write(f"Drafting job {job.pk} by {drafter}: {job.get_state_display()}.")
            return
        try:
            waiting.wait(f"Drafting by {drafter}", lambda: _standing(job), asked=[drafter.provider])
        except KeyboardInterrupt:
            raise CommandError("Left the drafts as they are; the same command goes on with them.") from None
        self._conclude(job)

    def _job(self, wish: Wish, drafter: Drafter) -> DraftJob | None:
        """The open job of this wish, or a new one; None where nothing waits."""
        job = _open_job(wish, drafter)
        if job is None:
            if not draft_jobs.plan(wish=wish, drafter=drafter).items:
                return None
            return draft_jobs.start(wish=wish, drafter=drafter, by=None)
        if job.state == DraftJobState.STOPPED:
            draft_jobs.go_on(job=job, by=None)
            job.refresh_from_db()
        return job

    def _conclude(self, job: DraftJob) -> None:
        job.refresh_from_db()
        at = draft_progress.standing([job])[job.pk]
        spent = draft_progress.spent([job])[job.pk]
        if job.state == DraftJobState.STOPPED:
            raise CommandError(f"Drafting has stopped. {job.stop_reason}")
        if at.failed:
            drafts = "1 draft" if at.failed == 1 else f"{at.failed} drafts"
            raise CommandError(f"{drafts} could not be used; the page of job {job.pk} shows what came back.")
        cost = spent.words + (f" ({spent.note})" if spent.note else "")
        self.stdout.write(f"{at.ready} drafts are ready; {spent.calls} calls, cost {cost}.")


def _wish(options: dict[str, Any]) -> Wish:
    kind, alternatives = options["kind"], options["alternatives"]
    if options["item"]:
        return Wish(kind, DraftScope.ITEM, item=item_named(options["item"]), alternatives=alternatives)
    if options["cell"]:
        return Wish(kind, DraftScope.CELL, cell=_cell(options["cell"]), alternatives=alternatives)
    return Wish(kind, alternatives=alternatives)


def _cell(text: str) -> Cell:
    parts = text.split("/")
    if len(parts) != 3:
        raise Invalid("A cell is named as complexity/category/premise_class, such as single_clean/animal/identity.")
    return (parts[0], parts[1], parts[2])


def _open_job(wish: Wish, drafter: Drafter) -> DraftJob | None:
    complexity, category, premise_class = wish.cell or ("", "", "")
    item: Item | None = wish.item
    same = DraftJob.objects.filter(drafter=drafter, kind=wish.kind, scope=wish.scope, item=item)
    same = same.filter(complexity=complexity, category=category, premise_class=premise_class)
    same = same.filter(alternatives=wish.alternatives)
    return same.filter(state__in=(DraftJobState.RUNNING, DraftJobState.STOPPED)).first()


def _standing(job: DraftJob) -> Standing:
    job.refresh_from_db(fields=["state", "stop_reason"])
    at = draft_progress.standing([job])[job.pk]
    return Standing(at.done, at.planned, note="drafts", over=job.state != DraftJobState.RUNNING)
