"""What a worker makes in the background: claimed by one, and taken up again where that one died over it."""

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections, models, transaction
from django.db.models import F

from benchmark.models.claims import Claimable
from benchmark.models.releases import BuildState
from fpco_site.errors import Conflict, FpcoError
from fpco_site.llm.engine.hints import hint
from fpco_site.llm.engine.takeovers import Stop, Watch

log = logging.getLogger(__name__)
TRIES = 3  # workers that may die over one row


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Made:
    """What is to be written of a row that is done, and what puts its files in place, if somebody still wants them."""

    columns: dict[str, Any]
    place: Callable[[], None] = _nothing


@dataclass(frozen=True)
class Work[M: Claimable]:
    """How rows of one model are worked on. `does` and `done` say it in words: "built" in "while they built it"."""

    model: type[M]
    working: str = BuildState.BUILDING
    does: str = "built"
    done: str = "built"
    watch: Watch = field(default_factory=Watch)

    @property
    def _rows(self) -> models.QuerySet[M]:
        return self.model._default_manager.all()

    def unfinished(self) -> models.QuerySet[M]:
        """Rows that wait or are worked on, the oldest first."""
        return self._rows.filter(state__in=[BuildState.WAITING, self.working]).order_by("pk")

    @transaction.atomic
    def again(self, row: M, *, task: str) -> M:
        """Let one that failed wait for a worker once more. Raises Conflict where it is made already, or just now."""
        rows = self._rows.filter(pk=row.pk)
        if not rows.filter(state=BuildState.FAILED).update(state=BuildState.WAITING, error="", worker="", tries=0):
            raise Conflict(f"This {row._meta.verbose_name} is {self.done} already, or just now.")
        hint(task)
        return rows.get()

    def run_waiting(self, make: Callable[[M], Made], *, stop: Stop | None = None) -> int:
        """Work on every row that waits, and on those whose worker stands still. Returns how many it were."""
        count = 0
        for row in self.unfinished():
            if stop is not None and stop.asked:
                break
            count += self.run(row, make)
        return count

    def run(self, row: M, make: Callable[[M], Made]) -> bool:
        """Work on a row unless somebody else does; a failure is kept with its reason. Returns whether it was ours."""
        token = self.claim(row)
        if not token:
            return False
        mine = self._rows.filter(pk=row.pk, worker=token, state=self.working)
        try:
            with self._beating(row.pk, token):
                made = make(row)
                with transaction.atomic():  # files appear only with the row that names them
                    if mine.update(worker="", **made.columns):
                        made.place()
        except FpcoError as error:
            mine.update(state=BuildState.FAILED, error=error.message, worker="")
        except Exception as error:
            log.exception("%s %d could not be %s", self.model._meta.verbose_name, row.pk, self.done)
            said = f"It could not be {self.done} ({type(error).__name__}: {error})."
            mine.update(state=BuildState.FAILED, error=said, worker="")
        return True

    def claim(self, row: M) -> str:
        """The name under which this process may work on the row; blank where somebody else does, or it is over."""
        if row.worker and not self.watch.stands_still(row):
            return ""
        held = self.unfinished().filter(pk=row.pk, worker=row.worker, beat=row.beat)
        if row.tries >= TRIES:
            said = f"{TRIES} workers ended while they {self.does} it. Was there too little memory?"
            held.update(state=BuildState.FAILED, error=said, worker="")
            return ""
        token = str(uuid.uuid4())
        mine = held.update(state=self.working, worker=token, beat=F("beat") + 1, tries=F("tries") + 1)
        return token if mine else ""

    @contextmanager
    def _beating(self, pk: int, token: str) -> Iterator[None]:
        """Bump the row's counter while it is worked on, so that nobody takes it for a dead worker's."""
        over = threading.Event()
        name = f"{self.model._meta.verbose_name} {pk}"
        thread = threading.Thread(target=self._beat, args=(pk, token, over), name=name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _beat(self, pk: int, token: str, over: threading.Event) -> None:
        while not over.wait(float(settings.ENGINE["beat"])):
            try:
                self._rows.filter(pk=pk, worker=token).update(beat=F("beat") + 1)
            except DatabaseError as error:
                name = threading.current_thread().name
                log.warning("%s: its counter could not be bumped (%s); it is tried again", name, error)
            finally:
                connections.close_all()
