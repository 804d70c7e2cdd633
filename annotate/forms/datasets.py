"""Forms about datasets."""

from django import forms


class FreezeForm(forms.Form):
    """The name of the new dataset, and whether unfinished items are left out."""

    name = forms.CharField(max_length=100, help_text="It also names the folder of a release.")
    only_approved = forms.BooleanField(
        label="Leave out the items that are not approved yet",
        required=False,
        help_text="Without this tick, freezing is refused while any item is in draft or in review.",
    )
