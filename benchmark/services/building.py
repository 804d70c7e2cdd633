"""What is built in the background and kept as files: it waits, is claimed once, and can be asked for again."""

from collections.abc import Callable
from typing import Any

from django.db import models, transaction

from benchmark.models.releases import BuildState
from fpco_site.errors import Conflict
from fpco_site.llm.engine.hints import hint


@transaction.atomic
def again[M: models.Model](row: M, *, task: str) -> M:
    """Build one that failed, or whose worker was lost, once more. Raises Conflict where it is built."""
    rows = type(row)._default_manager.filter(pk=row.pk)
    if not rows.exclude(state=BuildState.READY).update(state=BuildState.WAITING, error=""):
        raise Conflict(f"This {row._meta.verbose_name} is built already.")
    hint(task)
    return rows.get()


def build_waiting(rows: models.QuerySet[Any], build: Callable[[Any], None]) -> int:
    """Build every row that waits; each is claimed by one conditional update, so that one worker builds it.

    Returns how many were built here.
    """
    waiting, built = rows.filter(state=BuildState.WAITING), 0
    for pk in waiting.order_by("pk").values_list("pk", flat=True):
        if waiting.filter(pk=pk).update(state=BuildState.BUILDING):
            build(rows.get(pk=pk))
            built += 1
    return built
