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
        item = factories.item()
        more: dict[str, Any] = {"drafter": drafter, "state": "waiting", "requested_by": ada}
        first = factories.draft(item, alternative=1, **more)
        return [
            first,
            *(factories.draft(item, alternative=n, job=first.job, **more) for n in range(2, count + 1)),
        ]

    return make
