"""The form of the study's settings."""

from typing import Any

from django import forms

from annotate.models import Protocol, ReviewRules
from annotate.services.study import MOST_PER_CELL, PUBLISHED_PER_CELL

# PostgreSQL's integers end here.
_LARGEST_SEED = 2**31 - 1


class StudyForm(forms.Form):
    """Quota and rules of review; the share of second reviews is asked for in percent."""

    per_cell = forms.IntegerField(
        label="Images per cell",
        min_value=1,
        max_value=MOST_PER_CELL,
        help_text=f"The published study has {PUBLISHED_PER_CELL}. It counts what is missing; it never refuses an item.",
    )
    approver_not_last_editor = forms.BooleanField(
        label="Who approves an item is not who edited it last",
        required=False,
        help_text="Takes two authors. Approvals that were given stay.",
    )
    second_percent = forms.FloatField(
        label="Items that two people review independently (%)",
        min_value=0,
        max_value=100,
        help_text="0 to 100; which items these are follows from the seed and the item's key, so nobody chooses.",
    )
    seed = forms.IntegerField(
        label="Seed of that choice", min_value=0, max_value=_LARGEST_SEED, help_text="The same seed, the same items."
    )

    @staticmethod
    def initial_of(plan: Protocol, rules: ReviewRules) -> dict[str, object]:
        return {
            "per_cell": plan.per_cell,
            "approver_not_last_editor": rules.approver_not_last_editor,
            "second_percent": f"{100 * rules.second_share:.6g}",
            "seed": rules.seed,
        }

    def settings(self) -> dict[str, Any]:
        """What `services.study.save` takes, of a valid form."""
        given = dict(self.cleaned_data)
        share = round(given.pop("second_percent") / 100, 8)
        return {**given, "second_share": share}
