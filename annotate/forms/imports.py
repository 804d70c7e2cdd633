"""Forms that bring images in."""

import json
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotate import image_tables
from annotate.services import images
from annotate.services.imports import Announced
from fpco_site.errors import FpcoError

TABLE_HELP = "The annotation JSON of COCO, the CSV of Open Images, or a CSV of your own. Its content tells which."
MOST_FILES = 20_000
LONGEST_PATH = 4096


class SeveralFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """Any number of uploaded files, at least one if required; cleans to a list."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        return [super(SeveralFilesField, self).clean(file, initial) for file in given or [None]]


class TableField(forms.FileField):
    """A table of sources of any known kind; cleans to its rows, or None."""

    widget = forms.FileInput

    def __init__(self) -> None:
        attrs = {"accept": ".csv,.json,text/csv,application/json"}
        super().__init__(
            label="Table of sources", required=False, widget=forms.FileInput(attrs=attrs), help_text=TABLE_HELP
        )

    def clean(self, data: Any, initial: Any = None) -> Any:
        file: UploadedFile[bytes] | None = super().clean(data, initial)
        if not file:
            return None
        try:
            return image_tables.parse(file.read(), name=str(file.name))
        except FpcoError as error:
            raise forms.ValidationError(error.message) from error


class UploadForm(forms.Form):
    """Photographs and, if there is one, the table of their sources."""

    photographs = SeveralFilesField(
        label="Photographs",
        allow_empty_file=True,  # refused by its name, and the others are kept
        widget=SeveralFilesInput(attrs={"accept": "image/*", "class": "drop-input"}),
        help_text="Drop files or a folder here, or choose them: JPEG, PNG, WebP, TIFF, BMP, GIF or AVIF.",
    )
    table = TableField()


class AnnounceForm(forms.Form):
    """Files that a browser is about to send, as JSON: a list of `{"path", "size"}`; with the table of their sources."""

    listing = forms.FileField()
    table = TableField()
    new = forms.BooleanField(required=False)

    def clean_listing(self) -> list[Announced]:
        try:
            rows = json.loads(self.cleaned_data["listing"].read())
            files = [Announced(_path(row["path"]), _size(row["size"])) for row in rows]
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise forms.ValidationError("The list of files can't be read.") from error
        if len(files) > MOST_FILES:
            raise forms.ValidationError(f"{len(files):,} files are too many at once; send at most {MOST_FILES:,}.")
        return files


class SendForm(forms.Form):
    """One announced file."""

    path = forms.JSONField()  # JSON, since a browser changes line ends in plain fields, and file names may hold them
    file = forms.FileField(allow_empty_file=True)

    def clean_path(self) -> str:
        try:
            return _path(self.cleaned_data["path"])
        except ValueError as error:
            raise forms.ValidationError("The path of the file can't be read.") from error

    def clean_file(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if refusal := images.too_large(str(file.name), int(file.size or 0)):
            raise forms.ValidationError(refusal)
        return file


class FolderForm(forms.Form):
    """A folder or a zip that was put on the server."""

    folder = forms.CharField(label="Folder or zip below import/", max_length=300)
    csv_name = forms.CharField(
        label="Table, below the same folder",
        max_length=300,
        required=False,
        help_text="Beside the zip, or in the folder.",
    )


class ZipForm(forms.Form):
    """A zip from this computer."""

    zip_file = forms.FileField(label="Zip", widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}))
    table = TableField()


def _path(value: Any) -> str:
    """A path as the browser says it; it names the file and is never opened."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_PATH:
        raise ValueError(f"a path has 1 to {LONGEST_PATH:,} characters")
    value.encode()  # half of a surrogate pair is no text
    return value


def _size(value: Any) -> int:
    size = int(value)
    if not 0 <= size < 2**53:
        raise ValueError("a size is not negative")
    return size
