"""Forms about images."""

from typing import Any

from django import forms

from annotate import image_csv
from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.models.images import Source


class PlaceForm(forms.Form):
    """A cell, chosen on three axes or at once as `complexity/category/premise_class`; with the target."""

    complexity = forms.ChoiceField(choices=Complexity.choices, required=False)
    category = forms.ChoiceField(choices=Category.choices, required=False)
    premise_class = forms.ChoiceField(choices=PremiseClass.choices, required=False)
    cell = forms.CharField(required=False)
    target = forms.CharField(required=False, max_length=image_csv.LONGEST["target"])

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        parts = (cleaned.get("cell") or "").split("/")
        if len(parts) != 3:
            parts = [cleaned.get(name) or "" for name in ("complexity", "category", "premise_class")]
        if not all(parts):
            raise forms.ValidationError("Choose a complexity, a category and a premise class.")
        place: Cell = (parts[0], parts[1], parts[2])
        return {"cell": place, "target": cleaned.get("target") or ""}


class FactsForm(forms.Form):
    """Where a picture comes from."""

    target = forms.CharField(
        required=False, max_length=image_csv.LONGEST["target"], help_text="The noun that the metadata names."
    )
    source = forms.ChoiceField(choices=Source.choices)
    source_id = forms.CharField(label="Source id", required=False, max_length=image_csv.LONGEST["source_id"])
    author = forms.CharField(required=False, max_length=image_csv.LONGEST["author"])
    license = forms.CharField(label="Licence", required=False, max_length=image_csv.LONGEST["license"])
    license_url = forms.CharField(label="Licence address", required=False, max_length=image_csv.LONGEST["license_url"])
    landing_url = forms.CharField(label="Landing page", required=False, max_length=image_csv.LONGEST["landing_url"])
    source_url = forms.CharField(
        label="Address of the file", required=False, max_length=image_csv.LONGEST["source_url"]
    )
