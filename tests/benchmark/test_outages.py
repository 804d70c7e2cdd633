"""A database that goes away takes nothing along: neither what it had committed nor what it was about to."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import OperationalError

from annotate.models import User
from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.services import runs
from fpco_site.llm.engine import Claim, writer
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request
from tests import factories
from tests.engine import FakeProvider, run_engine

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.worker,
    pytest.mark.usefixtures("fast_engine"),
]
ITEMS, TURNS = 2, 10


@pytest.fixture
def run(ada: User) -> Run:
    model = factories.model(concurrency=ITEMS)
    return runs.start(run=runs.create(model=model, dataset=factories.dataset(items=ITEMS), by=ada), by=ada)


def lose_confirmation(monkeypatch: pytest.MonkeyPatch, of: Callable[[Sequence[Any], list[Any]], bool]) -> list[str]:
    """The connection breaks once, right after a commit that `of` knows by its jobs and results."""
    once, lost = writer.Writer._once, list[str]()

    def commit_and_break(self: writer.Writer, group: Sequence[Any]) -> list[Any]:
        results = once(self, group)
        if not lost and of(group, results):
            lost.append("lost")
            raise OperationalError("server closed the connection unexpectedly")
        return results

    monkeypatch.setattr(writer.Writer, "_once", commit_and_break)
    return lost


async def say(request: Request) -> Reply:
    return Reply(Outcome.ANSWERED, f"Answer to {len(request.messages)} messages.")


def whole(run: Run, provider: FakeProvider, *, more: int = 0) -> None:
    assert Run.objects.get(pk=run.pk).state == "complete"
    assert Response.objects.count() == ITEMS * TURNS
    assert len(provider.asked) == Attempt.objects.count() == ITEMS * TURNS + more
    assert not Dialogue.objects.filter(lease_token__isnull=False).exists()


def test_a_claim_that_was_committed_and_never_confirmed_is_given_back(run: Run, monkeypatch: Any) -> None:
    def claims(_: Sequence[Any], results: list[Any]) -> bool:
        return any(isinstance(one, list) and one and isinstance(one[0], Claim) for one in results)

    lost, provider = lose_confirmation(monkeypatch, claims), FakeProvider(say)
    run_engine(provider)
    assert lost
    whole(run, provider)


def test_an_answer_that_was_committed_and_never_confirmed_is_not_stored_twice(run: Run, monkeypatch: Any) -> None:
    lost = lose_confirmation(monkeypatch, lambda group, _: any(job.call and job.call.reply for job in group))
    provider = FakeProvider(say)
    run_engine(provider)
    assert lost
    whole(run, provider)


def test_a_failed_call_that_was_committed_and_never_confirmed_is_not_counted_twice(run: Run, monkeypatch: Any) -> None:
    failures = [ProviderError(ErrorKind.TRANSIENT, "It hiccups.", status=500)]

    async def stumble(request: Request) -> Reply:
        if len(request.messages) > 2 and failures:
            raise failures.pop()
        return await say(request)

    lost = lose_confirmation(monkeypatch, lambda group, _: any(job.call and job.call.error for job in group))
    provider = FakeProvider(stumble)
    run_engine(provider)
    assert lost
    whole(run, provider, more=1)


def test_answers_wait_for_a_database_that_is_away(run: Run, monkeypatch: Any) -> None:
    """However often it refuses: what was paid for is stored in the end."""
    away = [OperationalError("the database system is starting up")] * 6
    read = writer.gate_rows.read

    def refuse() -> Any:
        if away and Response.objects.count() > 3:
            raise away.pop()
        return read()

    monkeypatch.setattr(writer.gate_rows, "read", refuse)
    provider = FakeProvider(say)
    run_engine(provider)
    assert not away
    whole(run, provider)
