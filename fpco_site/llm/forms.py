"""The form of an endpoint: how a model, a detector or a drafter is asked, with its settings and prices."""

from typing import Any

from django import forms

from fpco_site.llm import prompts, providers
from fpco_site.llm.catalogue import VARIABLE
from fpco_site.llm.models import LONGEST_TIMEOUT, PRICE_COLUMNS
from fpco_site.llm.types import TIMEOUT

ENDPOINT = ["provider", "model_id", "base_url", "api_key_env"]
SETTINGS = ["max_output_tokens", "temperature", "top_p", "concurrency", "timeout", "options"]
PRICES = [*PRICE_COLUMNS]
LABELS = {
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
HELP = {
    "base_url": "Only for servers that speak the OpenAI protocol, such as vLLM.",
    "api_key_env": "The name of the environment variable that holds the key; never the key itself.",
    "temperature": "Empty: not sent.",
    "top_p": "Empty: not sent.",
    "options": "Further settings of the provider, as JSON.",
    "price_input": "US dollars per million tokens; empty is unknown.",
}
_OFFLINE = ("rules", "scripted", "drafter")


class OptionsField(forms.JSONField):
    """JSON that is shown again as it can be sent: half of a character is no text."""

    def prepare_value(self, value: Any) -> Any:
        shown = super().prepare_value(value)
        return shown.encode("utf-8", "backslashreplace").decode() if isinstance(shown, str) else shown


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]
    """A model form whose provider is one of those that fit: `offline` names the simulated ones among them."""

    offline: tuple[str, ...] = ()
    provider = forms.ChoiceField()
    timeout = forms.FloatField(
        required=False,
        min_value=1,
        max_value=LONGEST_TIMEOUT,
        initial=TIMEOUT,
        label="Seconds to wait for an answer",
        help_text="A call that takes longer is given up and tried again.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["provider"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _choices(self.offline, self.instance.provider)

    def clean_api_key_env(self) -> str:
        """A key that was pasted by mistake must not be stored."""
        name: str = self.cleaned_data["api_key_env"].strip()
        if name and not VARIABLE.fullmatch(name):
            raise forms.ValidationError("This is the name of a variable (capital letters, digits, _), never a key.")
        return name

    def clean_timeout(self) -> float:
        """Empty: as long as usual."""
        return self.cleaned_data["timeout"] or TIMEOUT

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError('Options are a JSON object, such as {"reasoning_effort": "low"}.')
        return options

    def values(self) -> dict[str, Any]:
        """The cleaned values, for the service."""
        return dict(self.cleaned_data)


def prompt_field(*, label: str = "Prompt") -> forms.TypedChoiceField:
    """A choice among the versions of a prompt; `choose_prompt` fills it when the form is made."""
    return forms.TypedChoiceField(coerce=int, empty_value=None, required=False, label=label)


def choose_prompt(field: forms.Field, name: str) -> None:
    """DB. Offer every version of a prompt, the newest first; nothing chosen is the newest."""
    assert isinstance(field, forms.TypedChoiceField)
    known = prompts.versions(name)
    field.choices = [
        (number, f"version {number}{' (newest)' if number == known[-1] else ''}") for number in known[::-1]
    ]
    if field.initial is None:
        field.initial = known[-1]


def _choices(offline: tuple[str, ...], kept: str) -> list[tuple[str, str]]:
    names = [name for name in providers.names() if name not in _OFFLINE or name in offline]
    if kept and kept not in names:
        names.append(kept)
    return [(name, name) for name in names]
