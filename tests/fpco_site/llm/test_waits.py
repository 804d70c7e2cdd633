"""However a provider words its wait, it is read as seconds or not at all."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fpco_site.llm.providers import _waits, _wire
from fpco_site.llm.types import ErrorKind, ProviderError

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PARTS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("8.64s", 8.64),
        ("1d", 86400),
        ("30", 30),
        (" 7.66s ", 7.66),
        ("0s", 0),
        ("", None),
        ("soon", None),
        ("-1s", None),
        ("1s later", None),
        ("1 s", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400 + "s", None),
    ],
)
def test_a_duration_is_read_whole_or_not_at_all(text: str, seconds: float | None) -> None:
    assert _waits.duration(text) == (None if seconds is None else pytest.approx(seconds))


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(sorted(PARTS))), min_size=1, max_size=5))
def test_a_duration_is_the_sum_of_its_parts(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{unit}" for number, unit in parts)
    assert _waits.duration(text) == pytest.approx(sum(number * PARTS[unit] for number, unit in parts))


@given(st.text(alphabet="0123456789.dhmsuµn -+eE_GMT,:", max_size=30) | st.text(max_size=30))
def test_no_header_breaks_anything_or_asks_for_less_than_nothing(text: str) -> None:
    for name in ("Retry-After", "retry-after-ms", "x-ratelimit-reset-requests"):
        headers = {"X-RateLimit-Remaining-Requests": "0", name: text}
        wait = _waits.asked_by_headers(headers, now=NOW)
        assert wait is None or 0 <= wait < float("inf")


@given(st.integers(-(10**6), 10**6))
def test_a_date_is_waited_for_and_one_that_is_over_is_not(seconds: int) -> None:
    until = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert _waits.asked_by_headers({"retry-after": until}, now=NOW) == max(0, seconds)


def test_what_is_said_first_counts() -> None:
    reset = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9s"}
    assert _waits.asked_by_headers(reset) == 9
    assert _waits.asked_by_headers({**reset, "retry-after": "2"}) == 2
    assert _waits.asked_by_headers({**reset, "retry-after": "2", "retry-after-ms": "1500"}) == 1.5


def test_the_longest_reset_of_what_is_used_up_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "20ms",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "3s",
        "x-ratelimit-remaining-images": "4",
        "x-ratelimit-reset-images": "1h",
    }
    assert _waits.used_up(headers) == 3
    assert _waits.used_up({"x-ratelimit-remaining-requests": "0"}) is None
    assert _waits.used_up({"x-ratelimit-remaining-requests": "99", "x-ratelimit-reset-requests": "3s"}) is None


def google(status: int, details: Any) -> ProviderError:
    body = {"error": {"code": status, "message": "No.", "status": "RESOURCE_EXHAUSTED", "details": details}}
    return _wire.refused_by_status(
        provider="gemini", status=status, raw=json.dumps(body).encode(), headers={"Retry-After": "99"}, key=""
    )


def test_google_says_its_wait_among_the_details() -> None:
    error = google(429, [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}])
    assert (error.kind, error.retry_after) == (ErrorKind.RATE_LIMITED, 17.5)


def test_googles_quota_of_the_day_is_a_quota_though_it_names_seconds() -> None:
    violations = [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]
    error = google(429, [{"violations": violations}, {"retryDelay": "17s"}])
    assert (error.kind, error.code) == (ErrorKind.PERMANENT, "daily_quota")
    minute = google(429, [{"violations": [{"quotaId": "GenerateRequestsPerMinute"}]}, {"retryDelay": "17s"}])
    assert (minute.kind, minute.retry_after) == (ErrorKind.RATE_LIMITED, 17)


def test_googles_answer_to_a_wrong_key_names_the_key() -> None:
    assert google(400, [{"reason": "API_KEY_INVALID"}]).code == "API_KEY_INVALID"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda of: (
            st.lists(of) | st.dictionaries(st.sampled_from(["violations", "quotaId", "retryDelay", "reason"]), of)
        ),
        max_leaves=8,
    )
)
def test_no_details_break_anything(details: Any) -> None:
    assert google(429, details).kind in (ErrorKind.RATE_LIMITED, ErrorKind.PERMANENT)
