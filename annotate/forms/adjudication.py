"""What the page of a disagreement sends."""

from django import forms

from annotate.forms.labels import verdict
from annotate.services.adjudication import LONGEST_REASON


class DecisionForm(forms.Form):
    """A decision with its reason; `seen` is the decision that stood when the page was opened."""

    detect = verdict(error_messages={"required": "Choose one of the two."})
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Say why: a decision needs its reason."}
    )
    together = forms.BooleanField(required=False)
    seen = forms.IntegerField(required=False, min_value=1)
