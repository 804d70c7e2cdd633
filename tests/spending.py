"""What was kept of calls and tokens, held against the rows that were written with it."""

from benchmark import costs
from benchmark.models import Attempt, DetectionCall, DetectionJob, Response, Run, Spending
from fpco_site.llm.money import Sums


def assert_sums_agree() -> None:
    """The kept sums of every run and detection job are those of its rows."""
    asked = costs.added_up(Attempt.objects.all(), by="dialogue__run", replied=costs.REPLIED)
    told = costs.added_up(Response.objects.all(), by="dialogue__run")
    judged = costs.added_up(DetectionCall.objects.all(), by="detection__job", replied=costs.REPLIED)
    for run in Run.objects.all():
        rows = told if run.imported else asked
        assert Spending.objects.get(run=run).sums == rows.get(run.pk, Sums()), run
    for job in DetectionJob.objects.all():
        kept = sum((row.sums for row in Spending.objects.filter(job=job)), Sums())
        assert kept == judged.get(job.pk, Sums()), job
