"""What a person types of a case study, and by what they look for items."""

from typing import Any

from django import forms

from annotate.axes import Category, Complexity, PremiseClass
from annotate.models import Dataset
from benchmark.services.cases import NAME

SORTS = {"key": "name", "share": "most corrections", "least": "fewest corrections", "differ": "detectors differ most"}


class CaseForm(forms.Form):
    """Name and note, and the version of the case study that was read."""

    name = forms.CharField(max_length=NAME)
    note = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4}), help_text="What is to be seen in it; exports show it."
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)


class NewCaseForm(forms.Form):
    """A case study of one dataset."""

    dataset = forms.ModelChoiceField(Dataset.objects.order_by("-id"), empty_label=None)
    name = forms.CharField(max_length=NAME)


class ItemFilter(forms.Form):
    """By what items are found; what makes no sense in an address is left out."""

    premise_class = forms.ChoiceField(choices=[("", "all classes"), *PremiseClass.choices], required=False)
    complexity = forms.ChoiceField(choices=[("", "all complexities"), *Complexity.choices], required=False)
    category = forms.ChoiceField(choices=[("", "all categories"), *Category.choices], required=False)
    find = forms.CharField(required=False, max_length=100)
    sort = forms.ChoiceField(choices=list(SORTS.items()), required=False)

    def said(self) -> dict[str, Any]:
        """What is said and makes sense, by name."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}
