"""What an author says when opening a validation set."""

from typing import Any

from django import forms

from annotate.models import Dataset, User
from annotate.models.labels import Mode
from annotate.models.people import Role
from benchmark import designs
from benchmark.designs import MOST, NUMBERS, STUDY_NUMBER, Kind, Naming, Plan
from benchmark.models import ResultSet, Run
from benchmark.models.runs import RunState
from benchmark.services.validation import MOST_LABELS, SEED_IS_DRAWN
from fpco_site.errors import Invalid
from fpco_site.forms import SeveralField

DESIGNS = {
    Kind.MODEL_CLASS: "by model and class: the study's",
    Kind.RANDOM: "at random over all",
    Kind.LABEL: "by what the detectors said",
    Kind.DISAGREEMENT: "by disagreement of the detectors",
}
NAMING = {
    Naming.LEAVE: "keep them in, as any other",
    Naming.REPLACE: "replace each by the next draw of its stratum, unseen",
}


class _NumberField(forms.IntegerField):
    """How many answers are drawn: needed by its own design alone, so the form says when it is missing."""

    def validate(self, value: Any) -> None:
        """Nothing typed is no error of the field."""


def _number(initial: int, label: str, *, least: int = 1, help_text: str = "") -> forms.IntegerField:
    return _NumberField(min_value=least, max_value=MOST, initial=initial, label=label, help_text=help_text)


class _PeopleField(SeveralField):
    """A pool may begin with nobody: whether somebody is needed is the form's to say."""

    def clean(self, value: Any) -> Any:
        return super().clean(value) if value else User.objects.none()


class _ResultSetField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.dataset.name}: {obj.name}"


class OpenForm(forms.Form):
    """What is drawn from, how, how many, and who labels. `person` is who fills it in."""

    use_required_attribute = False  # a browser would not send a number that it hides and finds missing

    dataset = forms.ModelChoiceField(
        Dataset.objects.filter(pk__in=Run.objects.exclude(state=RunState.DRAFT).values("dataset")).order_by("-id"),
        empty_label=None,
    )
    result_set = _ResultSetField(
        ResultSet.objects.select_related("dataset").order_by("-dataset_id", "-id"),
        required=False,
        empty_label="The dataset's newest",
        help_text="Which run of each model and which two detectors count.",
    )
    design = forms.ChoiceField(choices=list(DESIGNS.items()), initial=Kind.MODEL_CLASS, widget=forms.RadioSelect)
    per_cell = _number(
        STUDY_NUMBER,
        "Answers of each model and class",
        help_text="The study draws 6: with 20 models and three classes, 360 answers.",
    )
    total = _number(designs.TOTAL, "Answers in all")
    per_label = _number(designs.OF_EACH_LABEL, "Answers of each label")
    each_detector = forms.BooleanField(
        required=False,
        label="Keep one-sided answers apart by detector",
        help_text="Strata: both see a correction, one of them does, neither does. Ticked, one-sided is two strata.",
    )
    disagreeing = _number(designs.OF_EACH_SIDE, "Answers on which the detectors disagree", least=0)
    agreeing = _number(designs.OF_EACH_SIDE, "Answers on which they agree", least=0)
    correct = _number(
        0,
        "Answers of each model from turns with a correct premise",
        least=0,
        help_text="A stratum of its own for each model, so that needless corrections (CorrFP) are validated too. "
        "The study draws none.",
    )
    naming = forms.ChoiceField(
        choices=list(NAMING.items()),
        initial=Naming.LEAVE,
        widget=forms.RadioSelect,
        label="Answers that name a model or its maker",
        help_text="They could tell who speaks. They are found by their words and counted; what happens to them is "
        "decided here, before anything is drawn, and kept with the set.",
    )
    mode = forms.ChoiceField(
        choices=[
            (Mode.CROSSED, "crossed: everybody labels every answer"),
            (Mode.POOL, "pool: each answer gets so many labels, from whoever comes"),
        ],
        initial=Mode.CROSSED,
        widget=forms.RadioSelect,
        help_text="Cohen's kappa of two people needs a crossed set.",
    )
    labels_per_task = _NumberField(min_value=1, max_value=MOST_LABELS, initial=2, label="Labels of each answer")
    annotators = _PeopleField(
        User.objects.filter(is_active=True, imported=False, role__in=[Role.AUTHOR, Role.ANNOTATOR]).order_by(
            "username"
        ),
        widget=forms.CheckboxSelectMultiple,
        help_text="An author who labels sees no single answer of this dataset until their labels are submitted. "
        "Others can join a pool later.",
    )
    show_picture = forms.BooleanField(
        required=False,
        label="Show the picture beside each answer",
        help_text="The study's detectors see none.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**62,
        help_text="The same seed draws the same answers. Leave it empty to have one drawn that nobody knows; who "
        "labels must not choose it.",
    )
    name = forms.CharField(
        required=False,
        max_length=100,
        help_text="Annotators read it: it should not say where the answers come from. Empty: it is numbered.",
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        self._need(given)
        chosen, dataset = given.get("result_set"), given.get("dataset")
        if chosen is not None and dataset is not None and chosen.dataset_id != dataset.pk:
            self.add_error("result_set", f"This result set is of {chosen.dataset.name}.")
        people = list(given.get("annotators") or ())
        if not people and given.get("mode") == Mode.CROSSED and "annotators" not in self.errors:
            self.add_error("annotators", "Choose at least one annotator.")
        if given.get("seed") is not None and (self.person in people or given.get("mode") == Mode.POOL):
            self.add_error("seed", SEED_IS_DRAWN)
        return given

    def _need(self, given: dict[str, Any]) -> None:
        """What the chosen design and mode need is there."""
        names = [NUMBERS[Kind(given["design"])]] if given.get("design") else []
        if given.get("mode") == Mode.POOL:
            names.append("labels_per_task")
        for name in names:
            if given.get(name) is None and name not in self.errors:
                self.add_error(name, "Say how many.")
        if not self.errors:
            try:
                self.plan()
            except Invalid as error:
                self.add_error(names[0], error.message)

    def plan(self) -> Plan:
        """The plan that the form states. Raises Invalid if it can't be drawn."""
        return designs.stated(self.cleaned_data)

    def source(self) -> dict[str, Any]:
        """What `validation.prepare` needs."""
        names = ("dataset", "result_set", "show_picture")
        return {"plan": self.plan(), **{name: self.cleaned_data[name] for name in names}}

    def opening(self) -> dict[str, Any]:
        """What `validation.open` needs."""
        given = {name: self.cleaned_data[name] for name in ("annotators", "seed", "name", "mode")}
        return {**self.source(), **given, "labels_per_task": self.cleaned_data["labels_per_task"] or 2}


class DrawForm(OpenForm):
    """The same after its preview: with the page's own id, and the fingerprint of the numbers that it shows."""

    client = forms.UUIDField(required=False, widget=forms.HiddenInput)
    shown = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def opening(self) -> dict[str, Any]:
        return {**super().opening(), "client": self.cleaned_data["client"], "shown": self.cleaned_data["shown"]}
