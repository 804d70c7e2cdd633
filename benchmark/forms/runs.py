"""Forms about runs."""

from typing import Any

from django import forms

from annotate.models import Dataset
from benchmark.catalogue import ModelEntry, model_entries
from benchmark.models import Detector, EvaluatedModel, Run
from benchmark.models.detectors import JobMode
from benchmark.progress import WORDS
from benchmark.services.runs import OVERRIDABLE, PROMPT, Lost
from fpco_site.forms import SeveralField, whole_number
from fpco_site.llm.forms import choose_prompt, prompt_field


class RunForm(forms.Form):
    """Which models run over which dataset."""

    dataset = forms.ModelChoiceField(Dataset.objects.order_by("-id"), empty_label="Choose a dataset")
    models = SeveralField(
        EvaluatedModel.objects.filter(active=True, imported=False),
        widget=forms.CheckboxSelectMultiple,
        label="Models",
        help_text="Each becomes a run of its own, with its settings as they are now.",
    )
    concurrency = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1024,
        label="Dialogues at once",
        help_text="Empty: as many as each model's settings say.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        label="Budget in US dollars a run",
        help_text="Calls are held back as the cost nears it, then the run pauses; only those in flight can cost "
        "more than was expected. It needs the model's prices.",
    )

    prompt_version = prompt_field()
    max_output_tokens = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        label="Output tokens at most",
        help_text="For these runs alone; empty: as each model's settings say. So for the two below.",
    )
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, label="Temperature")
    top_p = forms.FloatField(required=False, min_value=0, max_value=1, label="Top-p")

    def overrides(self) -> dict[str, Any]:
        """The settings that these runs have of their own."""
        return {name: self.cleaned_data[name] for name in OVERRIDABLE if self.cleaned_data[name] is not None}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose_prompt(self.fields["prompt_version"], PROMPT)
        field = self.fields["models"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        entries = model_entries(field.queryset or [])
        field.choices = [(entry.model.pk, _words(entry)) for entry in entries if entry.usable]
        self.keyless = [entry.model.name for entry in entries if not entry.usable]

    def chosen(self) -> tuple[Dataset | None, list[EvaluatedModel]]:
        """The dataset and models as the form stands, valid or not."""
        if not self.is_bound:
            given = whole_number(str(self.initial.get("dataset", "")))
            named = [pk for entry in self.initial.get("models", []) if (pk := whole_number(str(entry))) is not None]
            models = EvaluatedModel.objects.filter(pk__in=named) if named else []
            return (None if given is None else Dataset.objects.filter(pk=given).first()), list(models)
        self.is_valid()
        return self.cleaned_data.get("dataset"), list(self.cleaned_data.get("models") or [])

    def plan(self) -> dict[str, Any]:
        """What an estimate needs to know of these runs, as the form stands, valid or not."""
        given = self.cleaned_data if self.is_bound else self.initial
        return {
            "concurrency": given.get("concurrency"),
            "prompt_version": given.get("prompt_version"),
            "cap": given.get("max_output_tokens"),
        }


def _words(entry: ModelEntry) -> str:
    family = f" · {entry.model.family}" if entry.model.family else ""
    marks = [" · simulated"] * entry.simulated + [" · local"] * entry.local
    return f"{entry.model.name}{family}{''.join(marks)}"


class ChangeForm(forms.Form):
    """What can be changed of an open run."""

    concurrency = forms.IntegerField(min_value=1, max_value=1024, label="Dialogues at once")
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        label="Budget in US dollars",
        help_text="Empty: no limit. It needs the run's prices. Raised, a run that paused for it can be resumed.",
    )


class RetryForm(forms.Form):
    """Which outcomes are asked again; `lost` says what each would take up."""

    outcomes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, label="Ask again where a dialogue ended at a turn that was"
    )

    def __init__(self, *args: Any, lost: list[Lost], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["outcomes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(row.outcome, WORDS[row.outcome]) for row in lost]


def _mode_field() -> forms.ChoiceField:
    """How a detector is asked; nothing chosen leaves it as it was."""
    return forms.ChoiceField(
        required=False,
        label="How",
        choices=[
            ("", "as before; live at first"),
            (JobMode.LIVE, "live calls"),
            (JobMode.BATCH, "in batches: half the price, within a day"),
        ],
    )


class AskOverForm(forms.Form):
    """Over which dataset a detector is asked, and how."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.filter(pk__in=Run.objects.values("dataset")).order_by("-id"), empty_label="Choose a dataset"
    )
    mode = _mode_field()


class AskForm(AskOverForm):
    """Which detector is asked over a dataset, and how."""

    detector = forms.ModelChoiceField(
        Detector.objects.filter(active=True, imported=False), empty_label="Choose a detector"
    )
