"""What is to be drafted, by whom, and how a drafter is asked."""

from typing import Any

from django import forms

from annotate.axes import CELLS
from annotate.models import Drafter, Item
from annotate.models.drafts import DraftKind, DraftScope, JobKind
from annotate.selectors import cell_words
from annotate.services.draft_jobs import MOST, PROMPTS, Wish
from fpco_site.llm.forms import (
    ENDPOINT,
    HELP,
    LABELS,
    PRICES,
    SETTINGS,
    EndpointForm,
    OptionsField,
    choose_prompt,
    prompt_field,
)


class JobForm(forms.Form):
    """A job of drafting."""

    drafter = forms.ModelChoiceField(Drafter.objects.filter(active=True).order_by("id"), empty_label=None)
    kind = forms.ChoiceField(choices=JobKind.choices, initial=JobKind.BOTH, label="What")
    scope = forms.ChoiceField(choices=DraftScope.choices, initial=DraftScope.WAITING, label="For which items")
    cell = forms.ChoiceField(required=False, label="Cell")
    item = forms.CharField(required=False, max_length=60, label="Item", help_text="Its key, as in its address.")
    alternatives = forms.TypedChoiceField(
        coerce=int,
        choices=[(1, "one draft"), (2, "two side by side"), (MOST, "three side by side")],
        initial=1,
        label="Drafts of each",
    )
    questions_version = prompt_field(label="Prompt for questions")
    premise_version = prompt_field(label="Prompt for the premise")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cell = self.fields["cell"]
        assert isinstance(cell, forms.ChoiceField)
        cell.choices = [("", "Choose a cell"), *(("/".join(each), ", ".join(cell_words(each))) for each in CELLS)]
        for kind in DraftKind:
            choose_prompt(self.fields[f"{kind}_version"], PROMPTS[kind])

    def clean_item(self) -> Item | None:
        """The item that the scope of one item means."""
        key = self.cleaned_data["item"].strip()
        if self.cleaned_data.get("scope") != DraftScope.ITEM:
            return None
        found = Item.objects.filter(key=key).first()
        if found is None:
            raise forms.ValidationError(f"There is no item {key!r}." if key else "Say which item.")
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("scope") == DraftScope.CELL and not cleaned.get("cell"):
            self.add_error("cell", "Say which cell.")
        return cleaned

    def wish(self) -> Wish:
        """What a valid form asks for."""
        given = self.cleaned_data
        cell = tuple(given["cell"].split("/")) if given["scope"] == DraftScope.CELL else None
        versions = {kind.value: given[f"{kind}_version"] for kind in DraftKind if given[f"{kind}_version"]}
        return Wish(
            kind=given["kind"],
            scope=given["scope"],
            item=given["item"],
            cell=(cell[0], cell[1], cell[2]) if cell else None,
            alternatives=given["alternatives"],
            versions=versions,
        )


class DrafterForm(EndpointForm):
    """A drafter and how it is asked."""

    offline = ("drafter",)

    class Meta:
        model = Drafter
        fields = ["name", "family", *ENDPOINT, *SETTINGS, *PRICES]
        field_classes = {"options": OptionsField}
        labels = {**LABELS, "concurrency": "Calls at once"}
        help_texts = {**HELP, "family": "Tells apart who made it, where several check variants."}
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "class": "mono"})}
