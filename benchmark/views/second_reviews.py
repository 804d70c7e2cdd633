"""Second reviews: how far two people agree who reviewed the same items without seeing each other's verdict."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate import review_pairs
from annotate.models.reviews import Verdict
from annotate.permissions import author_required
from annotate.review_page import CHECKS
from annotate.review_pairs import Pair
from annotate.services import rules
from benchmark.statistics import agreement


@require_safe
@author_required
def second_reviews(request: HttpRequest) -> HttpResponse:
    pairs, rule = review_pairs.settled(), rules.current()
    verdicts = agreement.compare(
        [pair.first.verdict == Verdict.APPROVED for pair in pairs],
        [pair.second.verdict == Verdict.APPROVED for pair in pairs],
    )
    context = {
        "rule": rule,
        "pairs": pairs,
        "verdicts": verdicts,
        "levels": [{"label": "Approved or not", "found": verdicts, "why": _why(verdicts)}, *_checks(pairs)],
        "disagreements": [pair for pair in pairs if not pair.agrees],
        "section": "review_queue",
    }
    return render(request, "benchmark/second_reviews.html", context)


def _checks(pairs: list[Pair]) -> list[dict[str, Any]]:
    """The same for each check: whether it holds; a rejection that names no check says nothing of any."""
    found = []
    for name, label, words in CHECKS:
        compared = agreement.compare(
            [getattr(pair.first, name) for pair in pairs], [getattr(pair.second, name) for pair in pairs]
        )
        found.append({"label": label, "help": words, "found": compared, "why": _why(compared)})
    return found


def _why(found: agreement.Agreement) -> str:
    """Why kappa or its interval is missing, of items rather than responses."""
    reason = found.kappa.reason
    return "no item has both" if reason == agreement.NOTHING_SHARED else reason
