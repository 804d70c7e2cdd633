"""Forms about images."""

from typing import Any

from django import forms

from annotate import image_csv
from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.models.images import Source


class SeveralFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """Any number of uploaded files, at least one if required; cleans to a list."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(SeveralFilesField, self).clean(file, initial) for file in given or [None]]


class UploadForm(forms.Form):
    """Photographs and, if there is one, the table of their sources."""

    photographs = SeveralFilesField(
        label="Photographs",
        allow_empty_file=True,  # refused by its name, and the others are kept
        widget=SeveralFilesInput(attrs={"accept": "image/*", "class": "drop-input"}),
        help_text="Drop files here or choose them: JPEG, PNG, WebP, TIFF, BMP, GIF or AVIF.",
    )
    table = forms.FileField(
        label="Table of sources (CSV)",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
        help_text=f"Columns: {', '.join(image_csv.COLUMNS)}; all but file are optional.",
    )


class FolderForm(forms.Form):
    """A folder that was put on the server."""

    folder = forms.CharField(label="Folder below import/", max_length=300)
    csv_name = forms.CharField(label="CSV in that folder", max_length=300, required=False)


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
