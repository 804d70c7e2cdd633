"""Tags that every page shares: icons, navigation, badges, numbers. See templates/components/README.md."""

import json
from collections.abc import Iterable
from typing import Any

from django import template
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from fpco_site import navigation

register = template.Library()

# state -> (tone, icon); the words are the state's own, so colour is never alone.
STATES = {
    "draft": ("idle", "pencil"),
    "placed": ("idle", "circle"),
    "unplaced": ("warn", "circle"),
    "in_review": ("info", "half"),
    "approved": ("good", "check"),
    "rejected": ("bad", "cross"),
    "frozen": ("good", "lock"),
    "imported": ("plain", "download"),
    "waiting": ("idle", "clock"),
    "asked": ("info", "half"),
    "running": ("info", "run"),
    "paused": ("warn", "pause"),
    "stopped": ("warn", "stop"),
    "complete": ("good", "check"),
    "incomplete": ("warn", "half"),
    "failed": ("bad", "warn"),
    "answered": ("good", "check"),
    "cut": ("warn", "cut"),
    "refused": ("warn", "ban"),
    "blocked": ("bad", "ban"),
    "empty": ("bad", "minus"),
    "not_asked": ("idle", "minus"),
    "missing": ("bad", "minus"),
    "added": ("good", "check"),
    "present": ("plain", "copy"),
    "different": ("good", "check"),
    "same": ("plain", "copy"),
    "labelled": ("good", "label"),
    "open": ("info", "circle"),
    "closed": ("good", "lock"),
    "submitted": ("good", "check"),
    "locked": ("good", "lock"),
    "building": ("info", "run"),
    "ready": ("good", "check"),
    "done": ("good", "check"),
    "passed": ("good", "check"),
    "undecided": ("bad", "warn"),
    "untested": ("idle", "circle"),
    "outdated": ("warn", "clock"),
    "simulated": ("mark", "flask"),
    "good": ("good", "check"),
    "bad": ("bad", "cross"),
    "untold": ("idle", "minus"),
    "active": ("good", "check"),
    "inactive": ("idle", "ban"),
    "key_missing": ("warn", "key"),
    "correction": ("info", "check"),
    "cooperation": ("idle", "arrow-right"),
}


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    """One icon of static/img/icons.svg; decoration only, so the words must stand beside it."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>',
        css,
        static("img/icons.svg"),
        name,
    )


@register.simple_tag(takes_context=True)
def nav_links(context: Context) -> list[navigation.Link]:
    """The sections that the person of this request may open."""
    request = context.get("request")
    user = getattr(request, "user", None)
    if request is None or user is None or not user.is_authenticated:
        return []
    return navigation.links(role=user.role, path=request.path, section=context.get("section") or "")


@register.inclusion_tag("components/badge.html")
def state(value: str, label: str = "") -> dict[str, Any]:
    """A state as icon and word: `{% state run.state run.get_state_display %}`."""
    tone, glyph = STATES.get(str(value), ("plain", ""))
    return {"tone": tone, "glyph": glyph, "label": label or str(value).replace("_", " ")}


@register.simple_tag
def state_icon(value: str) -> SafeString:
    """The icon of a state alone, where its word stands beside it or in a title."""
    return icon(STATES.get(str(value), ("plain", "dot"))[1])


@register.inclusion_tag("components/badge.html")
def badge(label: str, tone: str = "plain", glyph: str = "", title: str = "") -> dict[str, Any]:
    """A badge of any word; tones: good, warn, bad, info, mark, idle, plain."""
    return {"tone": tone, "glyph": glyph, "label": label, "title": title}


@register.inclusion_tag("components/badge.html")
def simulated(shown: object = True) -> dict[str, Any]:
    """The mark of everything that no real model, detector or person made; nothing where `shown` is false."""
    title = "Made offline for the demo: not from a real model, detector or person."
    return {"tone": "mark", "glyph": "flask", "label": "simulated", "title": title, "hidden": not shown}


@register.inclusion_tag("components/estimate.html")
def estimate(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    digits: int = 3,
    reason: str = "",
) -> dict[str, Any]:
    """A number with its interval and n; undefined is a dash with `reason`, never 0."""
    return {
        "value": _fixed(value, digits),
        "low": _fixed(low, digits),
        "high": _fixed(high, digits),
        "n": n,
        "reason": reason or "undefined",
    }


@register.inclusion_tag("components/progress.html")
def progress(done: int, total: int, label: str = "") -> dict[str, Any]:
    """A progress bar with its counts in words."""
    return {"done": done, "total": total, "label": label, "complete": total > 0 and done >= total}


@register.inclusion_tag("components/stack.html")
def stack(parts: Iterable[tuple[str, int, str]], label: str = "", legend: bool = True) -> dict[str, Any]:
    """Counts side by side as one bar; `parts` are (words, count, tone), the words are its legend."""
    rows = [(words, count, tone) for words, count, tone in parts]
    total = sum(count for _, count, _ in rows)
    bars, at = [], 0.0
    for words, count, tone in rows:
        width = 100 * count / total if total else 0.0
        bars.append({"label": words, "count": count, "tone": tone, "x": f"{at:.3f}", "width": f"{width:.3f}"})
        at += width
    return {"bars": bars, "total": total, "label": label, "legend": legend}


@register.filter
def share(part: float | None, whole: float | None) -> str:
    """`part / whole` in percent for a bar's width; empty bars where there is no whole."""
    return f"{min(100.0, 100 * (part or 0) / whole):.2f}" if whole else "0"


@register.filter
def kappa_band(kappa: float | None) -> str:
    """The shade of a kappa in steps of 0.2 from 0.2 up; none where it is lower or undefined."""
    return "" if kappa is None or kappa <= 0.2 else f"kappa-{min(4, int(kappa * 5 - 1e-9))}"


@register.filter
def fixed(value: float | None, digits: int = 3) -> str:
    """A number with a fixed count of decimals; a dash where there is none."""
    return _fixed(value, digits) or "–"


@register.filter
def readable(text: str) -> str:
    """What a model wrote as a page can carry it: half a character and NUL as their escapes, all else as it is."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


@register.filter
def as_json(value: object) -> str:
    """A setting as it is written in models.toml's options and in forms."""
    return json.dumps(value, ensure_ascii=False)


def _fixed(value: float | None, digits: int) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.{digits}f}"
