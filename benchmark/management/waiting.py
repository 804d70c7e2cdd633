"""What commands that wait share: a progress bar, and an engine of their own where no worker lives."""

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Self

from django.db import connections
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fpco_site.llm.engine import config, pump
from fpco_site.llm.models import Worker

LOOK_EVERY = 0.25


@dataclass(frozen=True)
class Standing:
    """How far the work is. `over` is why nothing will happen any more, empty while something may."""

    done: int
    total: int
    note: str = ""
    over: bool = False


class _OwnEngine:
    """An engine in a thread of this process."""

    def __init__(self, process: pump.Process) -> None:
        self.stop = pump.Stop()
        self._process = process
        self._thread = threading.Thread(target=self._main, name="engine")
        self._thread.start()

    def _main(self) -> None:
        try:
            pump.run(stop=self.stop, stay=True, process=self._process)
        finally:
            connections.close_all()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        self.stop.set()
        self._thread.join()


class _Workers:
    """Whether the counter of some worker of a place moves, seen on our own clock."""

    def __init__(self, place: str, patience: float) -> None:
        self._place = place
        self._patience = patience
        self._beats = self._read()
        self._since = time.monotonic()

    def alive(self) -> bool:
        """False once no counter has moved for as long as our patience lasts."""
        beats = self._read()
        if beats - self._beats:
            self._beats, self._since = beats, time.monotonic()
        return time.monotonic() - self._since < self._patience

    def _read(self) -> frozenset[tuple[object, int]]:
        live = Worker.objects.filter(place=self._place, stopped_at__isnull=True)
        return frozenset((worker, beats) for worker, beats in live.values_list("pk", "beats"))


@contextmanager
def helper(process: pump.Process) -> Iterator[Callable[[], None]]:
    """Yields a function to be called now and then: it starts an engine here where no worker of this place lives."""
    settings, place = config.load(), process.place
    fresh, steady = _Workers(place, settings.look), _Workers(place, settings.beat * 2 + settings.look)
    had_workers = Worker.objects.filter(place=place, stopped_at__isnull=True).exists()
    own: list[_OwnEngine] = []

    def tend() -> None:
        workers = steady if had_workers else fresh
        if not own and not workers.alive():
            own.append(_OwnEngine(process))

    try:
        yield tend
    finally:
        for engine in own:
            engine.end()


class Bar:
    """A progress bar on stderr, so that output can still be piped."""

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task(title, total=None, note="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, standing: Standing) -> None:
        self._progress.update(self._task, completed=standing.done, total=standing.total, note=standing.note)


def wait(title: str, look: Callable[[], Standing], *, asked: Iterable[str]) -> Standing:
    """Show progress until `look` says that it is over; works here where no worker that asks the providers `asked` does.

    Ctrl-C and SIGTERM end the wait and our own engine cleanly, as KeyboardInterrupt: calls in flight
    finish, and the work can go on later.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack, Bar(title) as bar:
        tends = [stack.enter_context(helper(process)) for process in {pump.process_for(name) for name in asked}]
        while True:
            standing = look()
            bar.show(standing)
            if standing.over:
                return standing
            for tend in tends:
                tend()
            time.sleep(LOOK_EVERY)
