"""How long something waits, and a value by its key."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone

register = template.Library()

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


@register.filter
def age(since: datetime) -> str:
    """The time since then in its largest unit: "3 d", "5 h", "12 min", "now"."""
    seconds = (timezone.now() - since).total_seconds()
    return next((f"{int(seconds // size)} {unit}" for size, unit in _UNITS if seconds >= size), "now")


@register.filter
def item(values: Mapping[Any, Any], key: Any) -> Any:
    """The value under that key, None where there is none."""
    return values.get(key)
