"""Forms about models and detectors: an endpoint, its settings and prices."""

from typing import Any

from django import forms

from benchmark.models import Detector, EvaluatedModel
from fpco_site.llm import providers

_ENDPOINT = ["provider", "model_id", "base_url", "api_key_env"]
_SETTINGS = ["max_output_tokens", "temperature", "top_p", "concurrency", "options"]
_PRICES = ["price_input", "price_cached_input", "price_output"]
_LABELS = {
    "model_id": "Model id",
    "base_url": "Base URL",
    "api_key_env": "API key variable",
    "max_output_tokens": "Output tokens at most",
    "top_p": "Top-p",
    "concurrency": "Dialogues at once",
    "price_input": "Price of input",
    "price_cached_input": "Price of cached input",
    "price_output": "Price of output",
}
_HELP = {
    "base_url": "Only for servers that speak the OpenAI protocol, such as vLLM.",
    "api_key_env": "The name of the environment variable that holds the key; never the key itself.",
    "temperature": "Empty: not sent.",
    "top_p": "Empty: not sent.",
    "options": "Further settings of the provider, as JSON.",
    "price_input": "US dollars per million tokens; empty is unknown.",
}
_SIMULATED_DETECTORS, _SIMULATED_MODELS = ("rules",), ("scripted",)
_OFFLINE = ("rules", "scripted", "drafter")


def _choices(offline: tuple[str, ...], kept: str) -> list[tuple[str, str]]:
    names = [name for name in providers.names() if name not in _OFFLINE or name in offline]
    if kept and kept not in names:
        names.append(kept)
    return [(name, name) for name in names]


class OptionsField(forms.JSONField):
    """JSON that is shown again as it can be sent: half of a character is no text."""

    def prepare_value(self, value: Any) -> Any:
        shown = super().prepare_value(value)
        return shown.encode("utf-8", "backslashreplace").decode() if isinstance(shown, str) else shown


class _EndpointForm(forms.ModelForm):  # type: ignore[type-arg]
    """A model form whose provider is one of those that fit."""

    offline: tuple[str, ...] = ()
    provider = forms.ChoiceField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["provider"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _choices(self.offline, self.instance.provider)

    def clean_api_key_env(self) -> str:
        """A key that was pasted by mistake must not be stored."""
        name: str = self.cleaned_data["api_key_env"].strip()
        if name and not name.replace("_", "").isalnum():
            raise forms.ValidationError("This is the name of a variable (letters, digits, _), never a key.")
        return name

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError('Options are a JSON object, such as {"reasoning_effort": "low"}.')
        return options

    def values(self) -> dict[str, Any]:
        """The cleaned values, for the service."""
        return dict(self.cleaned_data)


class ModelForm(_EndpointForm):
    """A model and how it is asked."""

    offline = _SIMULATED_MODELS

    class Meta:
        model = EvaluatedModel
        fields = ["name", "family", *_ENDPOINT, *_SETTINGS, *_PRICES, "active"]
        field_classes = {"options": OptionsField}
        labels = _LABELS
        help_texts = _HELP
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "class": "mono"})}


class DetectorForm(_EndpointForm):
    """A new detector, or a new version of one."""

    offline = _SIMULATED_DETECTORS

    class Meta:
        model = Detector
        fields = ["slug", "name", *_ENDPOINT, *_SETTINGS, *_PRICES]
        field_classes = {"options": OptionsField}
        labels = {**_LABELS, "slug": "Slug", "concurrency": "Calls at once"}
        help_texts = {**_HELP, "slug": "Names the detector in tables and releases; all its versions share it."}
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "class": "mono"})}

    @classmethod
    def initial_of(cls, base: Detector) -> dict[str, Any]:
        """The form of a new version: everything as the version it starts from."""
        return {name: getattr(base, name) for name in cls.Meta.fields}


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
