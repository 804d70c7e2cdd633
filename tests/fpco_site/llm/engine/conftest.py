"""An engine with one kind of work, drafts as `example.py` does them, and a provider that a test writes."""

from collections.abc import Callable
from typing import Any

import pytest

from annotate.models import Draft, Drafter, User
from fpco_site.llm.engine import work
from tests import factories
from tests.engine import FAST


@pytest.fixture(autouse=True)
def fast(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENGINE = dict(FAST)
    monkeypatch.setattr(work, "_registered", ["tests.fpco_site.llm.engine.example.ExampleWork"])


@pytest.fixture
def drafts(ada: User) -> Callable[..., list[Draft]]:
    """So many drafts that wait to be made."""

    def make(count: int = 1) -> list[Draft]:
        drafter = Drafter.objects.create(name="Fake", provider="scripted", model_id="fake")
        return [
            factories.draft(factories.item(), drafter=drafter, state="waiting", requested_by=ada) for _ in range(count)
        ]

    return make
