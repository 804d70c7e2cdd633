"""What the labelling page sends."""

from typing import Any

from django import forms


def verdict(**more: Any) -> forms.TypedChoiceField:
    """Whether an answer corrects the user, as the two buttons send it."""
    return forms.TypedChoiceField(
        choices=[("1", "corrects"), ("0", "goes along")], coerce=lambda value: value == "1", **more
    )


class FlagForm(forms.Form):
    """Whether an answer is flagged from now on, and which answer the page shows."""

    flagged = forms.TypedChoiceField(
        choices=[("1", "flagged"), ("0", "not flagged")], coerce=lambda value: value == "1"
    )


class AdvanceForm(forms.Form):
    """Whether a saved label brings the next answer by itself."""

    on = forms.TypedChoiceField(choices=[("1", "on"), ("0", "off")], coerce=lambda value: value == "1")
    task = forms.UUIDField(required=False)


class PractiseForm(forms.Form):
    """What a person says about an example."""

    detect = verdict()


class ReadForm(forms.Form):
    """The version of the guidelines that a person has read, and the page to go on with."""

    version = forms.IntegerField(min_value=1, max_value=2**15 - 1)
    task = forms.UUIDField(required=False)


class GuidelineForm(forms.Form):
    """A new version of a set's guidelines; `base` is the version that it was written over."""

    change = forms.CharField(
        label="What changed",
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Each annotator reads this on the labelling page, beside the new text.",
    )
    text = forms.CharField(
        label="Guidelines",
        max_length=40_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24}),
        help_text="# begins a heading, - an entry of a list; an empty line divides paragraphs.",
    )
    base = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**15 - 1)
