"""The form of an item's texts."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from annotate.linting import Plan
from annotate.models.reviews import Verdict
from annotate.services import reviews
from annotate.services.edit_drafts import Message
from annotate.services.items import Question, Texts
from fpco_site.errors import Invalid
from fpco_site.forms import whole_number

_NEWEST = 2_000_000_000  # what every database takes for a number
_NO_VERSION = "Say which version you mean: open the item again."
_ROWS = {"rows": 2, "spellcheck": "true", "autocomplete": "off"}


class TextsForm(forms.Form):
    """Descriptions and questions; `machine_n` carries the rewrite of turn n that the computer made."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=_NEWEST)
    target = forms.CharField(required=False, max_length=200)
    target_description = forms.CharField(label="Description", required=False, max_length=500)
    modified_target_description = forms.CharField(label="Modified description", required=False, max_length=500)

    def __init__(
        self, *args: object, plan: Plan, numbers: list[int], own_premise_only: bool = False, **more: object
    ) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self.numbers = numbers
        self.false_turns = [number for number in numbers if number in plan.false_turns]
        for number in numbers:
            self.fields[f"content_{number}"] = _text(f"Question {number}")
        for number in self.false_turns:
            self.fields[f"modified_{number}"] = _text(f"Modified question {number}")
            self.fields[f"machine_{number}"] = forms.CharField(required=False, widget=forms.HiddenInput)
        if own_premise_only:
            for name in ("target", "target_description", *(f"content_{number}" for number in numbers)):
                self.fields[name].widget.attrs["readonly"] = True

    @staticmethod
    def initial_of(texts: Texts, *, version: int, machine: Mapping[int, str]) -> dict[str, object]:
        """What the form starts from."""
        return {
            "version": version,
            "target": texts.target,
            "target_description": texts.target_description,
            "modified_target_description": texts.modified_target_description,
            **{f"content_{number}": question.content for number, question in texts.questions.items()},
            **{f"modified_{number}": question.modified for number, question in texts.questions.items()},
            **{f"machine_{number}": text for number, text in machine.items()},
        }

    def texts(self, now: Texts) -> Texts:
        """What was typed, of a valid form; a field that was not sent stays as it is `now`."""
        sent = {name: text for name, text in self.cleaned_data.items() if name in self.data}
        given = {**self.initial_of(now, version=0, machine={}), **sent}
        return Texts(
            target=given["target"],
            target_description=given["target_description"],
            modified_target_description=given["modified_target_description"],
            questions={
                number: Question(given[f"content_{number}"], given[f"modified_{number}"]) for number in self.numbers
            },
        )

    def machine(self) -> dict[int, str]:
        return {number: self.cleaned_data[f"machine_{number}"] for number in self.false_turns}


class DecisionForm(forms.Form):
    """A verdict on the version that was shown; sending back names what fails."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=_NEWEST)
    verdict = forms.ChoiceField(choices=Verdict.choices)
    comment = forms.CharField(required=False, max_length=5000)

    def decision(self, posted: QueryDict) -> dict[str, Any]:
        """What `reviews.decide` takes: approving states that all four checks hold."""
        if "verdict" in self.errors:
            raise Invalid("Choose a verdict: approve, send back or reject.")
        require_valid(self)
        names, verdict = posted.getlist("failing"), self.cleaned_data["verdict"]
        if verdict == Verdict.SENT_BACK and not names:
            raise Invalid("Name the check that fails, by its key or with a click.")
        checks = reviews.ALL_HOLD if verdict == Verdict.APPROVED else reviews.failing(names)
        return {**self.cleaned_data, "checks": checks}


class CommentForm(forms.Form):
    """A remark; `line` is `turn:field`, empty for the whole item."""

    version = forms.IntegerField(min_value=1, max_value=_NEWEST)
    text = forms.CharField(label="Comment", max_length=5000)
    line = forms.CharField(required=False, max_length=60)

    def about(self) -> dict[str, Any]:
        """The turn and the field of a valid form."""
        turn, _, field = self.cleaned_data["line"].partition(":")
        return {"turn": whole_number(turn), "field": field}


class MessageForm(forms.Form):
    """Which window of the browser sends, the how-manieth message this is, and the unsaved text it was opened with."""

    client = forms.UUIDField()
    sequence = forms.IntegerField(min_value=1, max_value=_NEWEST)
    seen_client = forms.UUIDField(required=False)
    seen_sequence = forms.IntegerField(required=False, min_value=0, max_value=_NEWEST)

    def message(self) -> Message | None:
        """None where the page had no script that counts."""
        return Message(**self.cleaned_data) if self.is_valid() else None


class ReasonForm(forms.Form):
    """A version and why it is changed."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=1, max_value=_NEWEST)
    reason = forms.CharField(required=False, max_length=1000)

    def named(self) -> dict[str, Any]:
        """What was given; raises Invalid where no version was."""
        require_valid(self)
        if self.cleaned_data["version"] is None:
            raise Invalid(_NO_VERSION)
        return self.cleaned_data


def require_valid(form: forms.Form) -> None:
    """Raises Invalid with the first thing that is wrong, in words."""
    if form.is_valid():
        return
    field, problems = next(iter(form.errors.items()))
    if field == "version":
        raise Invalid(_NO_VERSION)
    raise Invalid(f"{form.fields[field].label or field.replace('_', ' ').capitalize()}: {problems[0]}")


def _text(label: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=2000, widget=forms.Textarea(attrs=dict(_ROWS)))
