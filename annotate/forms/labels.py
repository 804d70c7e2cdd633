"""What the labelling page sends."""

from django import forms


class LabelForm(forms.Form):
    """One press of a key: the answer, how sure, and which press of which page it is."""

    detect = forms.TypedChoiceField(choices=[("1", "corrects"), ("0", "goes along")], coerce=lambda value: value == "1")
    unsure = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, max_length=4000)
    client = forms.UUIDField()
    sequence = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    seconds = forms.FloatField(required=False)
