"""A key is found however it is written, and nothing else is touched."""

import json
import logging
import sys

import pytest

from fpco_site import keys
from fpco_site.llm.providers import _wire

KEY = "sk-canary/5f3759df+zq0x5=="


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        KEY.replace("/", "\\/"),
        KEY.replace("/", "\\\\/"),
        KEY.replace("/", "\\u002f").replace("+", "\\u002B"),
        "sk-canary%2F5f3759df%2bzq0x5%3D%3D",
        "sk-canary&#x2F;5f3759df+zq0x5&#61;=",
    ],
)
def test_it_is_taken_out_of_text_and_bytes(written: str) -> None:
    assert keys.scrub(f"a {written} z", KEY) == "a [key] z"
    assert keys.scrub_bytes(b"\xff\x00 " + written.encode() + b" \xfe", KEY) == b"\xff\x00 [key] \xfe"


def test_what_holds_no_key_stays_as_it_was() -> None:
    raw = json.dumps({"text": "sk-canary and 5f3759df, half a \ud83d face"}).encode() + b"\xff"
    assert keys.scrub_bytes(raw, KEY) is raw or keys.scrub_bytes(raw, KEY) == raw
    assert keys.scrub_bytes(raw, "") == raw


def test_a_message_that_is_cut_short_leaves_no_half_of_it() -> None:
    said = "x" * (_wire.MESSAGE_LENGTH - len(KEY) + 1) + KEY
    error = _wire.refused_by_status(provider="p", status=500, raw=said.encode(), headers={}, key=KEY)
    assert "sk-" not in error.message


def test_a_log_line_leaves_it_out_of_its_traceback_too() -> None:
    keys.remember(KEY)
    try:
        raise RuntimeError(f"Bearer {KEY}")
    except RuntimeError:
        record = logging.LogRecord("a", logging.ERROR, "", 0, "It broke with %s", (KEY,), sys.exc_info())
    line = keys.Formatter("%(message)s").format(record)
    assert "5f3759df" not in line
    assert line.count(keys.MARK) >= 2
