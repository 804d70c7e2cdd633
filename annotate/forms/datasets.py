"""Forms about datasets."""

from django import forms


class FreezeForm(forms.Form):
    """The name of the new dataset; the ticks of the check list are beside it."""

    name = forms.CharField(max_length=100, help_text="It also names the folder of a release.")
