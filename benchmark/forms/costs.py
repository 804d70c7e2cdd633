"""Forms about money."""

from typing import Any

from django import forms

from fpco_site.llm.models import PRICE_COLUMNS, PriceFields


def _price(label: str, help_text: str) -> forms.DecimalField:
    """A column of `PriceFields`."""
    return forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=6, label=label, help_text=help_text
    )


class PriceForm(forms.Form):
    """The prices that a run or a detection job is reckoned by, in US dollars per million tokens."""

    price_input = _price("Input", "Empty: unknown.")
    price_cached_input = _price("Cached input", "Empty: as much as input.")
    price_output = _price("Output", "Reasoning tokens are output. Empty: unknown.")
    note = forms.CharField(max_length=500, label="Why", help_text="Kept with your name and the time.")

    @staticmethod
    def initial_of(row: PriceFields) -> dict[str, Any]:
        return row.price_columns()

    def prices(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in PRICE_COLUMNS}
