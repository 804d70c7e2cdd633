"""What a benchmark measures, and how a table of it is written."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Servers:
    """Addresses of the real servers that a benchmark may use, as DATABASE_URL and CELERY_BROKER_URL take them."""

    postgres: str
    broker: str


@dataclass(frozen=True)
class Figure:
    """One measured number; `note` says what it was measured on, or against which bound."""

    name: str
    value: float
    unit: str
    note: str = ""


def table(figures: Sequence[Figure]) -> str:
    """A Markdown table whose columns also line up in a terminal."""
    rows = [("what", "figure", "unit", "on")]
    rows += [(one.name, number(one.value), one.unit, one.note) for one in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"| {name:<{widths[0]}} | {value:>{widths[1]}} | {unit:<{widths[2]}} | {note:<{widths[3]}} |"
        for name, value, unit, note in rows
    ]
    rule = "-" * (widths[1] - 1) + ":"
    lines.insert(1, f"| {'-' * widths[0]} | {rule} | {'-' * widths[2]} | {'-' * widths[3]} |")
    return "\n".join(lines)


def number(value: float) -> str:
    """Three significant digits, thousands grouped."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
