"""Forms about models and detectors: an endpoint, its settings and prices."""

from typing import Any

from django import forms

from benchmark.models import Detector, EvaluatedModel
from benchmark.services.detectors import PROMPT
from fpco_site.llm.forms import (
    ENDPOINT,
    HELP,
    LABELS,
    PRICES,
    SETTINGS,
    EndpointForm,
    OptionsField,
    choose_prompt,
    prompt_field,
)

_SIMULATED_DETECTORS, _SIMULATED_MODELS = ("rules",), ("scripted",)


class ModelForm(EndpointForm):
    """A model and how it is asked."""

    offline = _SIMULATED_MODELS

    class Meta:
        model = EvaluatedModel
        fields = ["name", "family", *ENDPOINT, *SETTINGS, *PRICES, "active"]
        field_classes = {"options": OptionsField}
        labels = LABELS
        help_texts = HELP
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "class": "mono"})}


class DetectorForm(EndpointForm):
    """A new detector, or a new version of one."""

    offline = _SIMULATED_DETECTORS
    prompt_version = prompt_field()

    class Meta:
        model = Detector
        fields = ["slug", "name", *ENDPOINT, *SETTINGS, *PRICES]
        field_classes = {"options": OptionsField}
        labels = {**LABELS, "slug": "Slug", "concurrency": "Calls at once"}
        help_texts = {**HELP, "slug": "Names the detector in tables and releases; all its versions share it."}
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "class": "mono"})}

    @classmethod
    def initial_of(cls, base: Detector, *, prompt: int | None = None) -> dict[str, Any]:
        """The form of a new version: everything as the version it starts from, but for the prompt if one is given."""
        kept = prompt or (int(base.prompt_version) if base.prompt_version.isdigit() else None)
        return {**{name: getattr(base, name) for name in cls.Meta.fields}, "prompt_version": kept}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose_prompt(self.fields["prompt_version"], PROMPT)


class CatalogueForm(forms.Form):
    """A models.toml, pasted or as a file."""

    text = forms.CharField(
        required=False,
        label="models.toml",
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
        help_text="Arrays [[model]] and [[detector]]. Entries that are known by name are updated.",
    )
    file = forms.FileField(required=False, label="or a file")

    LARGEST = 1_000_000

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = cleaned.get("file")
        if given is not None:
            if given.size > self.LARGEST:
                raise forms.ValidationError("A models.toml is at most one megabyte.")
            try:
                cleaned["text"] = given.read().decode("utf-8")
            except UnicodeDecodeError as error:
                raise forms.ValidationError("The file is not UTF-8 text.") from error
        if not cleaned.get("text", "").strip():
            raise forms.ValidationError("Paste a models.toml or choose a file.")
        return cleaned
