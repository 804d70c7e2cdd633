"""Forms of the variants' pages."""

from django import forms

from annotate.models import Drafter
from annotate.services.variants import Move
from annotate.variant_table import Slot
from fpco_site.forms import SeveralField


class DrawForm(forms.Form):
    """The seed of a draw."""

    seed = forms.IntegerField(min_value=0, max_value=2_000_000_000, initial=1)


class PremiseForm(forms.Form):
    """One variant's premise and question; `machine` carries the rewrite that the computer made."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    # What was shown comes back with what was typed, so that a text left alone never meets another person's edit.
    premise = forms.CharField(
        label="Modified description",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"placeholder": "the modified description", "autocomplete": "off"}),
        show_hidden_initial=True,
    )
    question = forms.CharField(
        label="Modified question 4",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "its question follows by itself"}),
        show_hidden_initial=True,
    )
    machine = forms.CharField(required=False, widget=forms.HiddenInput)

    @staticmethod
    def of(slot: Slot, data: object = None) -> "PremiseForm":
        """The form of one slot, blank, filled from the variant or as typed."""
        [line] = [line for line in slot.sheet.lines if line.false_premise]
        initial = {
            "version": slot.item.version,
            "premise": slot.item.modified_target_description,
            "question": line.text.modified,
            "machine": line.machine,
        }
        return PremiseForm(data, initial=initial, prefix=slot.field)  # type: ignore[arg-type]

    def again(self, slot: Slot) -> "PremiseForm":
        """What was typed over the variant as it is now, to be looked at and saved anew."""
        now = PremiseForm.of(slot)
        data = {now.add_prefix(name): now.initial[name] for name in ("version", "machine")}
        for name in ("premise", "question"):
            data[now.add_prefix(name)] = self.data.get(self.add_prefix(name), "")
            data[now.add_initial_prefix(name)] = now.initial[name]
        return PremiseForm(data, initial=now.initial, prefix=self.prefix)

    def move(self, slot: Slot) -> Move:
        """What was typed, of a valid form."""
        given = self.cleaned_data
        return Move(slot.item, given["version"], given["premise"], given["question"].strip(), given["machine"])

    @property
    def is_touched(self) -> bool:
        """Whether a text differs from what was shown; the version and the computed rewrite are no texts."""
        return bool({"premise", "question"} & set(self.changed_data))


class CheckersForm(forms.Form):
    """Which models check."""

    checkers = SeveralField(Drafter.objects.filter(active=True), required=False)
