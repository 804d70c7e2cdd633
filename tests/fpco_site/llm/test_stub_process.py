"""The stub as a process of its own, as the tests that kill workers use it."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from fpco_site.llm import providers
from fpco_site.llm.types import Message, Outcome, Picture, ProviderError, Request
from tests.fpco_site.llm.ask import ask, endpoint, first_turn
from tests.stubs.fast import BUFFER, TEXT, FastServer


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


@pytest.mark.parametrize(
    ("provider", "path"), [("openai", "v1"), ("openai_compatible", "v1"), ("gemini", "")], ids=lambda value: value
)
def test_the_fast_one_speaks_each_protocol_and_counts(
    provider: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")

    async def talk() -> tuple[list[str | None], FastServer]:
        server = FastServer()
        await server.start()
        asked = providers.make(endpoint(provider, f"http://127.0.0.1:{server.port}/{path}", api_key_env="STUB_KEY"))
        try:
            picture = Picture(bytes(2 * BUFFER))  # more than one read can take
            turns = (Request("Answer.", (Message("user", "Where is the dog?"),), picture), first_turn())
            return [(await asked.ask(turn)).text for turn in turns], server
        finally:
            await asked.close()

    texts, server = asyncio.run(talk())
    assert texts == [TEXT.format(number=1), TEXT.format(number=2)]
    assert server.counts.answered == server.counts.requests == 2
    assert server.counts.bytes > 2 * BUFFER * 4 / 3
