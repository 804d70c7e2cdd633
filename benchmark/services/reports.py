"""Reports: asked for, built in the background, kept as files."""

from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotate.models import User
from benchmark.models import Report, ResultSet
from benchmark.models.releases import BuildState
from benchmark.reports import content, html, pdf
from benchmark.reports.choice import Choice, restored
from benchmark.services import blindness
from benchmark.services.building import Made, Work
from fpco_site.errors import Invalid
from fpco_site.llm.engine.hints import hint
from fpco_site.llm.engine.takeovers import Stop

TASK = "benchmark.build_reports"
FORMS = {"html": "text/html; charset=utf-8", "pdf": "application/pdf"}

_work = Work(Report)


def request(*, result_set: ResultSet, choice: Choice, by: User) -> Report:
    """Ask for a report of what counts now; a worker builds it. One that waits already is not asked for twice.

    Raises
    ------
    Invalid
        If nothing was chosen.
    Withheld
        If it would tell a person who still labels how far their labels fit.
    """
    if not (choice.figures or choice.tables or choice.sets or choice.analyses):
        raise Invalid("Choose at least one figure, table, validation set or analysis for the report.")
    unblinded = content.unblinded(choice)
    if unblinded:
        blindness.require_unblinded(user=by, dataset=result_set.dataset, page="report")
    return _keep(result_set, choice, unblinded, by)


@transaction.atomic
def _keep(result_set: ResultSet, choice: Choice, unblinded: bool, by: User) -> Report:
    """The same report where it still waits, as after a second click; else a new one."""
    ResultSet.objects.select_for_update().get(pk=result_set.pk)
    asked = {"result_set": result_set, "choice": choice.record(), "unblinded": unblinded}
    waiting = Report.objects.filter(**asked, state=BuildState.WAITING).first()
    report = waiting or Report.objects.create(**asked, asked_by=by)
    hint(TASK)
    return report


def again(*, report: Report) -> Report:
    """Build a report that failed once more."""
    return _work.again(report, task=TASK)


def build_waiting(*, stop: Stop | None = None) -> int:
    """Build every report that waits, and those whose worker stands still. Returns how many were built here."""
    return _work.run_waiting(_build, stop=stop)


def path_of(report: Report, form: str) -> Path:
    """Where a built report lies: `html` or `pdf`."""
    return settings.DATA_DIR / "reports" / f"{report.pk}.{form}"


def _build(report: Report) -> Made:
    """Read and write; the files are put in place once the row says that they are there."""
    document = content.document(report.result_set, restored(report.choice))
    written = {"html": html.write(document).encode(), "pdf": pdf.write(document)}
    digests = {f"{form}_sha256": sha256(data).hexdigest() for form, data in written.items()}
    columns = {"state": BuildState.READY, "finished_at": timezone.now(), **digests}
    return Made(columns, lambda: _place(report, written))


def _place(report: Report, written: dict[str, bytes]) -> None:
    for form, data in written.items():
        path = path_of(report, form)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
