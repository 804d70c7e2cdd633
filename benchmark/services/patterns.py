"""Patterns: labels folded into two bit masks a dialogue and detector; every count derives from them."""

from django.db import connection, transaction

from benchmark.models import Pattern, Run

# One statement folds a run's labels: bit t-1 stands for turn t. Runs on SQLite and PostgreSQL alike.
_FOLD = """
    INSERT INTO benchmark_pattern (run_id, item_id, detector_id, labelled, correction)
    SELECT dialogue.run_id, dialogue.item_id, label.detector_id,
           SUM(1 << (label.turn - 1)),
           SUM(CASE WHEN label.detect THEN 1 << (label.turn - 1) ELSE 0 END)
    FROM benchmark_detectorlabel AS label
    JOIN benchmark_dialogue AS dialogue ON dialogue.id = label.dialogue_id
    WHERE dialogue.run_id = %s
    GROUP BY dialogue.run_id, dialogue.item_id, label.detector_id
"""


@transaction.atomic
def rebuild(*, run: Run) -> int:
    """Make a run's patterns again from its labels; returns how many there are.

    The flag is lowered first: that locks the run's row, so a label that commits later raises it again.
    """
    Run.objects.filter(pk=run.pk).update(patterns_dirty=False)
    Pattern.objects.filter(run=run).delete()
    with connection.cursor() as cursor:
        cursor.execute(_FOLD, [run.pk])
        return int(cursor.rowcount)


def refresh(*, runs: list[Run]) -> None:
    """Rebuild the patterns of those runs whose labels changed since the last time."""
    keys = [run.pk for run in runs]
    for run in Run.objects.filter(pk__in=keys, patterns_dirty=True):
        rebuild(run=run)
