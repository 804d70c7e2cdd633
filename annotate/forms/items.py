"""The form of an item's texts."""

from collections.abc import Mapping

from django import forms

from annotate.linting import Plan
from annotate.models.reviews import Verdict
from annotate.services.items import Question, Texts

_ROWS = {"rows": 2, "spellcheck": "true", "autocomplete": "off"}


class TextsForm(forms.Form):
    """Descriptions and questions; `machine_n` carries the rewrite of turn n that the computer made."""

    version = forms.IntegerField(widget=forms.HiddenInput)
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

    def texts(self) -> Texts:
        """What was typed, of a valid form."""
        given = self.cleaned_data
        return Texts(
            target=given["target"],
            target_description=given["target_description"],
            modified_target_description=given["modified_target_description"],
            questions={
                number: Question(given[f"content_{number}"], given.get(f"modified_{number}", ""))
                for number in self.numbers
            },
        )

    def machine(self) -> dict[int, str]:
        return {number: self.cleaned_data[f"machine_{number}"] for number in self.false_turns}


class DecisionForm(forms.Form):
    """A verdict on the version that was shown."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    verdict = forms.ChoiceField(choices=Verdict.choices)
    grounding = forms.BooleanField(required=False)
    consistency = forms.BooleanField(required=False)
    naturalness = forms.BooleanField(required=False)
    single_error = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, max_length=5000)


class ReasonForm(forms.Form):
    """A version and why it is changed."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    reason = forms.CharField(required=False, max_length=1000)


def _text(label: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=2000, widget=forms.Textarea(attrs=dict(_ROWS)))
