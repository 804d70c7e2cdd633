"""How every form of the site is drawn: `{{ form }}` and `{{ form.name.as_field_group }}`."""

from typing import Any

from django import forms
from django.forms import widgets
from django.forms.boundfield import BoundField
from django.forms.renderers import TemplatesSetting

# Fits every id of both databases, and `int` never meets a text that takes it long.
_LONGEST_NUMBER = 18

# Django puts the class of these on their list too, so the browser's own controls are used, in our accent.
_LISTS = (widgets.RadioSelect, widgets.CheckboxSelectMultiple)


class StudioBoundField(BoundField):
    """A field whose widget carries the class of its kind, so that templates and forms need not."""

    def build_widget_attrs(self, attrs: dict[str, Any], widget: widgets.Widget | None = None) -> dict[str, Any]:
        widget = widget or self.field.widget
        built: dict[str, Any] = super().build_widget_attrs(attrs, widget)
        own = [built.get("class") or widget.attrs.get("class", ""), _css_class(widget)]
        if css := " ".join(filter(None, own)):
            built["class"] = css
        return built

    @property
    def is_check(self) -> bool:
        return isinstance(self.field.widget, widgets.CheckboxInput)


class StudioRenderer(TemplatesSetting):
    """Django's form renderer with this site's templates (components/form.html, components/field.html)."""

    form_template_name = "components/form.html"
    field_template_name = "components/field.html"
    bound_field_class = StudioBoundField


def whole_number(text: str) -> int | None:
    """The number that a request names in plain digits; None for any other text, also for "²" and for 10**30."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None


class SeveralField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Several rows by their ids; an id beyond the databases is no valid choice instead of an error of theirs."""

    def clean(self, value: Any) -> Any:
        odd = [entry for entry in value or () if whole_number(str(entry)) is None]
        if odd:
            message = self.error_messages["invalid_choice"]
            raise forms.ValidationError(message, code="invalid_choice", params={"value": odd[0]})
        return super().clean(value)


def _css_class(widget: widgets.Widget) -> str:
    if widget.is_hidden or isinstance(widget, _LISTS):
        return ""
    if isinstance(widget, widgets.CheckboxInput):
        return "form-check-input"
    return "form-select" if isinstance(widget, widgets.Select) else "form-control"
