"""Forms about people."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from annotate.models.people import Role
from annotate.services import sign_in


class SignInForm(AuthenticationForm):
    """Django's, with the brake on guessing."""

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if not username or self.request is None:
            return super().clean()
        who = {"username": username, "address": sign_in.address_of(self.request)}
        if sign_in.is_braked(**who):
            raise forms.ValidationError("Too many failed sign-ins. Wait five minutes, then try again.")
        try:
            cleaned = super().clean()
        except forms.ValidationError:
            sign_in.record_failure(**who)
            raise
        sign_in.forget_failures(**who)
        return cleaned


class PersonForm(forms.Form):
    """A new person."""

    username = forms.CharField(
        label="Name", max_length=150, help_text="What they sign in with: letters, digits and @ . + - _"
    )
    role = forms.ChoiceField(
        choices=[
            (Role.AUTHOR, "Author: builds and runs the study, may label"),
            (Role.ANNOTATOR, "Annotator: labels only, sees nothing of models and results"),
            (Role.READER, "Reader: reads results and downloads tables"),
        ],
        widget=forms.RadioSelect,
    )
