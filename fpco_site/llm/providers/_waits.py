"""How long a provider asks to be left alone, in whatever words: pure readings of headers and of error bodies."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|us|µs|ns|d|h|m|s)")
_LEFT, _RESET = "x-ratelimit-remaining-", "x-ratelimit-reset-"
_DAILY = "perday"


def seconds(text: str) -> float | None:
    """A plain number of seconds, 0 or more; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def duration(text: str) -> float | None:
    """Seconds of a duration such as `20ms`, `6m0s` or `1h2m3.5s`, or of a plain number; None for anything else."""
    text = text.strip()
    if (plain := seconds(text)) is not None:
        return plain
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return seconds(str(sum(float(number) * _UNITS[unit] for number, unit in parts)))


def asked_by_headers(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds to wait as the headers of a refusal ask: retry-after-ms, Retry-After, else a reset that is due."""
    lowered = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := seconds(lowered.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    value = lowered.get("retry-after", "").strip()
    if (wait := duration(value)) is not None:
        return wait
    if (wait := _until(value, now)) is not None:
        return wait
    return used_up(lowered)


def used_up(headers: Mapping[str, str]) -> float | None:
    """Seconds until there is something left again of what the headers say is used up; None where nothing is.

    `headers` have lower-case names: `x-ratelimit-remaining-requests: 0` and
    `x-ratelimit-reset-requests: 6m0s`, and so for tokens and whatever else is counted.
    """
    waits = [
        wait
        for name, left in headers.items()
        if name.startswith(_LEFT)
        and seconds(left) == 0
        and (wait := duration(headers.get(_RESET + name.removeprefix(_LEFT), ""))) is not None
    ]
    return max(waits, default=None)


def asked_by_details(details: list[dict[str, Any]]) -> float | None:
    """Seconds of the RetryInfo among the details of a Google error."""
    delays = (duration(row["retryDelay"]) for row in details if isinstance(row.get("retryDelay"), str))
    return next((wait for wait in delays if wait is not None), None)


def is_daily(details: list[dict[str, Any]]) -> bool:
    """Whether the details of a Google error name a quota of the day: no wait of seconds mends that."""
    found = [row.get("violations") for row in details]
    rows = [row for rows in found if isinstance(rows, list) for row in rows if isinstance(row, dict)]
    return any(_DAILY in str(row.get("quotaId", "")).lower() for row in rows)


def _until(value: str, now: datetime | None) -> float | None:
    """Seconds until an HTTP date."""
    try:
        moment = parsedate_to_datetime(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return None
