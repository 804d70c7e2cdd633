"""What was spent, added up: by run, model and detector. Reads only, and aggregates only."""

from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Least

from fpco_site.llm.money import Sums

# A call without a reply has the class of its error; a reply that could not be used is a reply.
REPLIED = Q(error_class="") | Q(error_class__startswith="unusable")


def added_up(rows: QuerySet[Any], *by: str, replied: Q | None = None) -> dict[Any, Sums]:
    """The sums of calls or answers, read off their rows, for each value of the column `by`, or of several.

    The kept sums must equal these (`Spending`). `replied` tells which rows are replies; None: all are.
    """
    told = Q(input_tokens__isnull=False, output_tokens__isnull=False)
    input_, output = Coalesce(F("input_tokens"), 0), Coalesce(F("output_tokens"), 0)
    found = (
        rows.order_by()
        .values_list(*by)
        .annotate(
            n_calls=Count("pk"),
            n_replies=Count("pk", filter=replied) if replied is not None else Count("pk"),
            n_counted=Count("pk", filter=told if replied is None else told & replied),
            n_input=Sum(input_),
            n_cached=Sum(Least(Coalesce(F("cached_tokens"), 0), input_)),
            n_output=Sum(output),
            n_reasoning=Sum(Least(Coalesce(F("reasoning_tokens"), 0), output)),
        )
    )
    return {row[0] if len(by) == 1 else row[: len(by)]: Sums(*row[len(by) :]) for row in found}
