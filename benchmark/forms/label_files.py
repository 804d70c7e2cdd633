"""What an author says when bringing labels in from a file."""

from typing import TYPE_CHECKING

from django import forms

from annotate import interchange
from annotate.models import Assignment, LabelSet
from annotate.services.interchange import who_is_who
from fpco_site.errors import FpcoError

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile


class PersonField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """One of the people of a set."""

    def label_from_instance(self, row: Assignment) -> str:
        return f"{row.pseudonym} ({row.person.username})"


class LabelFileForm(forms.Form):
    """A file, and whose labels are in it."""

    file = forms.FileField(help_text="Label Studio JSON, CSV or JSONL, as this set writes them. Nothing is stored yet.")
    whose = PersonField(
        Assignment.objects.none(),
        required=False,
        label="Whose labels",
        empty_label="as the file says",
        help_text="Counts for labels without a name in the file.",
    )
    who = forms.CharField(
        required=False,
        label="Who is who",
        help_text="Where the file names people otherwise: 7=H1, lea@lab.example=H2",
    )

    def __init__(self, *args: object, label_set: LabelSet, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        people = self.fields["whose"]
        assert isinstance(people, PersonField)
        people.queryset = label_set.assignments.select_related("person")

    def clean_file(self) -> "UploadedFile[bytes]":
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        try:
            interchange.check_size(int(file.size or 0), name=str(file.name))
        except FpcoError as error:
            raise forms.ValidationError(error.message) from error
        return file

    def clean_who(self) -> dict[str, str]:
        try:
            return who_is_who(self.cleaned_data["who"])
        except FpcoError as error:
            raise forms.ValidationError(error.message) from error
