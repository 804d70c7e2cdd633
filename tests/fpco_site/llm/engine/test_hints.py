"""A hint reaches the workers of this project, whoever sends it."""

import pytest

from fpco_site.celery import app
from fpco_site.llm import tasks
from fpco_site.llm.engine import hint


@pytest.mark.django_db(transaction=True)
def test_a_hint_goes_through_the_projects_own_broker_and_names_the_pump(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, **_: sent.append(name))

    hint()

    assert sent == [tasks.pump.name]
