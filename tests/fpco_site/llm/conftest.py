from collections.abc import Iterator

import pytest

from tests.fpco_site.llm.ask import CANARY, KEY_NAME
from tests.stubs import StubServer


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv(KEY_NAME, CANARY)
    with StubServer() as server:
        yield server
