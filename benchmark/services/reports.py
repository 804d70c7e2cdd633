"""Reports: asked for, built in the background, kept as files."""

import logging
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
from benchmark.services import blindness, building
from fpco_site.errors import FpcoError, Invalid
from fpco_site.llm.engine.hints import hint

log = logging.getLogger(__name__)
TASK = "benchmark.build_reports"
FORMS = {"html": "text/html; charset=utf-8", "pdf": "application/pdf"}


def request(*, result_set: ResultSet, choice: Choice, by: User) -> Report:
    """Ask for a report of what counts now; a worker builds it.

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
    with transaction.atomic():
        report = Report.objects.create(result_set=result_set, choice=choice.record(), unblinded=unblinded, asked_by=by)
        hint(TASK)
    return report


def again(*, report: Report) -> Report:
    """Build a report that failed, or whose worker was lost, once more."""
    return building.again(report, task=TASK)


def build_waiting() -> int:
    """Build every report that waits. Returns how many."""
    return building.build_waiting(Report.objects.select_related("result_set__dataset"), _build)


def path_of(report: Report, form: str) -> Path:
    """Where a built report lies: `html` or `pdf`."""
    return settings.DATA_DIR / "reports" / f"{report.pk}.{form}"


def _build(report: Report) -> None:
    """Read, write both files; a failure is kept with its reason, for a person to read."""
    mine = Report.objects.filter(pk=report.pk)
    try:
        document = content.document(report.result_set, restored(report.choice))
        written = {"html": html.write(document).encode(), "pdf": pdf.write(document)}
        for form, data in written.items():
            path = path_of(report, form)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except FpcoError as error:
        mine.update(state=BuildState.FAILED, error=error.message)
    except Exception as error:
        log.exception("Report %d could not be built", report.pk)
        mine.update(state=BuildState.FAILED, error=f"It could not be built ({type(error).__name__}: {error}).")
    else:
        digests = {f"{form}_sha256": sha256(data).hexdigest() for form, data in written.items()}
        mine.update(state=BuildState.READY, finished_at=timezone.now(), **digests)
