"""What an author says when opening a validation set."""

from django import forms

from annotate.models import Dataset, User
from annotate.models.people import Role
from benchmark.services.validation import STUDY_PER_CELL
from fpco_site.forms import SeveralField


class OpenForm(forms.Form):
    """Dataset, design and people of a draw."""

    dataset = forms.ModelChoiceField(Dataset.objects.order_by("-id"), empty_label=None)
    per_cell = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=STUDY_PER_CELL,
        label="Answers of each model and class",
        help_text="The study draws 6: with 20 models and three classes, 360 answers.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**62,
        help_text="The same seed draws the same answers. Leave it empty to have one drawn that nobody knows.",
    )
    annotators = SeveralField(
        User.objects.filter(is_active=True, imported=False, role__in=[Role.AUTHOR, Role.ANNOTATOR]).order_by(
            "username"
        ),
        widget=forms.CheckboxSelectMultiple,
        help_text="An author who labels sees no single answer of this dataset until their labels are submitted.",
    )
    show_picture = forms.BooleanField(
        required=False,
        label="Show the picture beside each answer",
        help_text="The study's detectors see none.",
    )
    name = forms.CharField(
        required=False,
        max_length=100,
        help_text="Annotators read it: it should not say where the answers come from. Empty: it is numbered.",
    )
