"""What long commands show on a terminal: a progress bar that stays quiet elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

type Report = Callable[[str, int, int], None]


@contextmanager
def progress_bars() -> Iterator[Report]:
    """A function to call with (what, done, total); each `what` gets a bar of its own on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=False) as bars:
        known: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            for name, task in known.items():
                if name != what and not bars.tasks[task].finished:
                    bars.update(task, completed=bars.tasks[task].total)
            if what not in known:
                known[what] = bars.add_task(what, total=total or None)
            bars.update(known[what], completed=done)

        yield report
        for task in known.values():
            bars.update(task, completed=bars.tasks[task].total)
