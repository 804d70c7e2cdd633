"""What was kept of calls and tokens, held against the rows that were written with it."""

from benchmark import costs
from benchmark.models import Attempt, DetectionCall, DetectionJob, Run, Spending
from fpco_site.llm.money import Sums


def assert_sums_agree() -> None:
    """The kept sums of every run and detection job are those of its rows."""
    asked = costs.added_up(Attempt.objects.all(), "dialogue__run", replied=costs.REPLIED)
    told = costs.imported(Run.objects.filter(imported=True))
    judged = costs.added_up(DetectionCall.objects.all(), "detection__job", "discount", replied=costs.REPLIED)
    for run in Run.objects.all():
        rows = told if run.imported else asked
        assert Spending.objects.get(run=run).sums == rows.get(run.pk, Sums()), run
    kept = {(row.job_id, row.discount): row.sums for row in Spending.objects.filter(job__isnull=False)}
    assert {key: sums for key, sums in kept.items() if sums.calls} == judged
    assert set(DetectionJob.objects.values_list("pk", flat=True)) <= {job for job, _ in kept}
