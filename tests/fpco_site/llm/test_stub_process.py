"""The stub as a process of its own, as the tests that kill workers use it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from fpco_site.llm.types import Outcome, ProviderError
from tests.fpco_site.llm.ask import ask, endpoint, first_turn


@pytest.fixture
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.stubs", "--plain"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(10) == 0


def read(address: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"{address}stub/{path}", data=data, timeout=10) as response:
        return json.load(response)


def test_it_answers_counts_and_takes_a_script(address: str) -> None:
    where = endpoint("openai_compatible", f"{address}v1", api_key_env="")

    first, second = ask(where, first_turn("Where is the dog?"), first_turn("Where is the dog?"))
    assert first.outcome is second.outcome is Outcome.ANSWERED
    assert read(address, "counts") == {"requests": 2, "answered": 2, "in_flight": 0, "peak": 1, "repeated": 1}

    assert read(address, "script", ["500"]) == {"scripted": 1}
    with pytest.raises(ProviderError, match="500"):
        ask(where, first_turn())
