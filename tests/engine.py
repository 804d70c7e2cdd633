"""An engine in the test's process, with a provider that the test writes."""

import threading
from collections.abc import Awaitable, Callable

from django.db import connections

from fpco_site.llm import providers
from fpco_site.llm.engine import pump
from fpco_site.llm.types import Endpoint, Outcome, Provider, Reply, Request

FAST = {"idle": 0.0, "tick": 0.01, "gap": 0.001, "backoff": 0.001, "beat": 0.02, "stale": 0.3, "grace": 5.0}
Answer = Callable[[Request], Awaitable[Reply]]


class FakeProvider:
    """Answers as a test's function does, and remembers what it was asked."""

    simulated = True

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.closed = False

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request.messages[-1].text)
        return await self.answer(request)

    async def close(self) -> None:
        self.closed = True


async def say_yes(request: Request) -> Reply:
    return Reply(Outcome.ANSWERED, "yes")


def run_engine(
    provider: Provider | None = None,
    *,
    stop: pump.Stop | None = None,
    stay: bool = False,
    place: str = providers.ANYWHERE,
) -> None:
    """Run an engine of its own, as one more worker, until it has nothing left to do.

    Without a provider, each endpoint gets the real one.
    """

    def make(endpoint: Endpoint) -> Provider:
        return provider or providers.make(endpoint)

    assert pump.run(stop=stop or pump.Stop(), stay=stay, make=make, process=pump.Process(place))


class Background:
    """An engine in a thread."""

    def __init__(self, provider: Provider | None = None, *, stay: bool = False) -> None:
        self.stop = pump.Stop()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, args=(provider, stay), daemon=True)
        self._thread.start()

    def _main(self, provider: Provider | None, stay: bool) -> None:
        try:
            run_engine(provider, stop=self.stop, stay=stay)
        except BaseException as error:
            self.error = error
        finally:
            connections.close_all()

    def join(self) -> None:
        self._thread.join(30)
        assert not self._thread.is_alive(), "The engine did not end."
        if self.error is not None:
            raise self.error
