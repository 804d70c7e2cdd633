"""The way of a batch to the provider and back: prepared, uploaded, submitting, submitted, ended, collected.

Each step does one thing at the provider and commits that it did. A worker that dies before the commit
leaves a step that can be done again; only a submission can't, so a batch that is found in the middle of
one is looked for by its key, and adopted, before it would be submitted a second time.
"""

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.utils import timezone

from benchmark.models import BatchJob, DetectionJob
from benchmark.models.batches import OPEN_BATCHES, BatchState
from benchmark.models.detectors import JobMode, JobState
from benchmark.services import batch_results, batches, detectors
from fpco_site.errors import FpcoError
from fpco_site.llm import batches as providers
from fpco_site.llm import engine
from fpco_site.llm.batches import Batches, Remote, Result
from fpco_site.llm.engine.takeovers import Stop, Watch
from fpco_site.llm.types import ErrorKind, ProviderError

log = logging.getLogger(__name__)
LOOKS = 2  # times that a provider doesn't know a key before the batch is submitted again
LONGEST = 10  # times the interval between two looks, after troubles


class TakenOver(Exception):
    """Another worker has this batch now."""


@dataclass
class _Looks:
    """When this process looks at each batch again, on its own clock."""

    due: dict[int, float] = field(default_factory=dict)
    troubles: dict[int, int] = field(default_factory=dict)

    def rest(self, batch: int, *, trouble: bool) -> None:
        self.troubles[batch] = self.troubles.get(batch, 0) + 1 if trouble else 0
        factor = min(2 ** self.troubles[batch], LONGEST) if trouble else 1
        self.due[batch] = time.monotonic() + float(settings.BATCH_POLL) * factor

    def is_due(self, batch: int) -> bool:
        return time.monotonic() >= self.due.get(batch, 0.0)


_looks = _Looks()
_watch = Watch()
_busy = threading.Lock()


def work(*, stop: Stop | None = None) -> None:
    """Take every batch as far as it goes now, and put into new ones what waits for it.

    Safe to run twice, in many workers, and to be killed anywhere; at once where this process works already.
    """
    if not _busy.acquire(blocking=False):
        return
    stop = stop or Stop()
    try:
        for batch in BatchJob.objects.filter(state__in=OPEN_BATCHES).order_by("pk"):
            if stop.asked:
                return
            if batch.cancel or _looks.is_due(batch.pk):
                _advance(batch.pk)
        for job in DetectionJob.objects.filter(state=JobState.RUNNING, mode=JobMode.BATCH).order_by("pk"):
            _fill(job, stop)
    finally:
        _busy.release()


def _fill(job: DetectionJob, stop: Stop) -> None:
    """New batches for a job, one after another, until nothing waits that should."""
    try:
        while not stop.asked and batches.ripe(job):
            made = batches.prepare(job=job)
            if made is None:
                return
            _advance(made.pk)
            job.refresh_from_db()
    except FpcoError as error:
        detectors.pause_by_engine(job=job.pk, reason=f"{error.message} Mend it, then resume.")


def _advance(pk: int) -> None:
    """Steps of one batch, until it waits for the provider."""
    with _held(pk) as hold:
        if hold is None:
            return
        trouble = ""
        try:
            with closing(providers.make(hold.batch.job.detector.endpoint())) as remote:
                while hold.step(remote):
                    pass
        except TakenOver:
            raise
        except ProviderError as error:
            trouble = error.message
        except FpcoError as error:
            trouble = error.message
            hold.cannot_go(f"{error.message} Mend it, then resume.")
        except Exception as error:
            log.exception("Batch %d could not be taken further", pk)
            trouble = f"{type(error).__name__}: see the worker's log; it is tried again."
        if trouble:
            hold.write(error=trouble)
        _looks.rest(pk, trouble=bool(trouble))


class _Hold:
    """A batch that this worker has, and its steps. Each returns whether the next can follow at once."""

    def __init__(self, batch: BatchJob, worker: str) -> None:
        self.batch = batch
        self._worker = worker

    def write(self, **columns: Any) -> None:
        """Commit how far the batch is. Raises TakenOver."""
        mine = BatchJob.objects.filter(pk=self.batch.pk, worker=self._worker)
        if not mine.update(beat=F("beat") + 1, **columns):
            raise TakenOver
        self.batch.refresh_from_db()

    def cannot_go(self, why: str) -> None:
        """Something here is amiss (a key, a prompt): what was not submitted waits again, in a job that is paused."""
        if self.batch.state in (BatchState.PREPARED, BatchState.UPLOADED):
            batches.withdraw(batch=self.batch, worker=self._worker, error=why, pause=True)

    def step(self, remote: Batches) -> bool:
        steps: dict[str, Callable[[Batches], bool]] = {
            BatchState.PREPARED: self._upload,
            BatchState.UPLOADED: self._submit,
            BatchState.SUBMITTING: self._look_for_it,
            BatchState.SUBMITTED: self._look,
            BatchState.ENDED: self._collect,
        }
        self.batch.refresh_from_db()
        take = steps.get(self.batch.state)
        return take(remote) if take else False

    def _upload(self, remote: Batches) -> bool:
        if not self._may_go_on():
            return False
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"fpco-{self.batch.key}.jsonl"
            batches.write_file(self.batch, remote, path)
            try:
                self.write(input_file=remote.upload(path), state=BatchState.UPLOADED, error="")
            except ProviderError as error:
                self._refused(error)
        return self.batch.state == BatchState.UPLOADED

    def _submit(self, remote: Batches) -> bool:
        if not self._may_go_on():
            return False
        self.write(state=BatchState.SUBMITTING, looks=0)
        try:
            made = remote.create(self.batch.input_file, str(self.batch.key))
        except ProviderError as error:
            if error.kind is ErrorKind.TRANSIENT:
                raise  # it may have been made: it is looked for
            self.write(state=BatchState.UPLOADED)
            self._refused(error)
        else:
            self._adopt(remote, made)
        return False

    def _look_for_it(self, remote: Batches) -> bool:
        """After a submission whose end nobody saw: adopt the batch, or be sure that there is none."""
        found = remote.find(str(self.batch.key), self.batch.input_file)
        if found:
            ours = next((one for one in found if not one.status.startswith("cancel")), found[0])
            self._adopt(remote, ours)
            for other in found:
                if other.id != ours.id and not other.over:
                    remote.cancel(other.id)
            return True
        self.write(looks=F("looks") + 1)
        if self.batch.looks < LOOKS:
            return False
        self.write(state=BatchState.UPLOADED)
        return True

    def _adopt(self, remote: Batches, found: Remote) -> None:
        try:
            self.write(
                state=BatchState.SUBMITTED,
                provider_id=found.id,
                provider_status=found.status,
                submitted_at=timezone.now(),
                error="",
            )
        except TakenOver:
            # Whoever took over may have looked for it before it was there, and submitted another.
            self.batch.refresh_from_db()
            if self.batch.provider_id != found.id:
                with suppress(ProviderError):
                    remote.cancel(found.id)
            raise

    def _look(self, remote: Batches) -> bool:
        try:
            if self.batch.cancel:
                remote.cancel(self.batch.provider_id)
            now = remote.get(self.batch.provider_id)
        except ProviderError as error:
            if error.status != 404:
                raise
            self._lost("The provider no longer knows this batch: was the key changed?")
            return False
        self.write(provider_status=now.status, done=now.done, error=now.error)
        if not now.over:
            return False
        if now.error and not now.files:
            said = f"The provider refused the batch: {now.error.rstrip('.')}. Mend the cause, then resume."
            batches.withdraw(batch=self.batch, worker=self._worker, error=said, pause=True)
            return False
        self.write(state=BatchState.ENDED, result_files=list(now.files), ended_at=timezone.now())
        return True

    def _collect(self, remote: Batches) -> bool:
        self.write(error="")
        gone: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            results = self._results(remote, Path(folder), gone)
            for _ in batch_results.collect(batch=self.batch, results=results):
                self.write()
        if gone:
            self._lost("The provider no longer has what it answered.")
            return False
        if not batch_results.close(batch=self.batch, worker=self._worker):
            raise TakenOver
        engine.hint(detectors.BATCHES)
        return False

    def _results(self, remote: Batches, folder: Path, gone: list[str]) -> Iterator[Result]:
        """What came, file by file; files that the provider has no more are added to `gone`."""
        for file in self.batch.result_files:
            try:
                yield from remote.results([file], folder)
            except ProviderError as error:
                if error.status != 404:
                    raise
                gone.append(file)

    def _lost(self, said: str) -> None:
        """End a batch whose answers can't be had. Asking again is paid for again, so a person decides on it."""
        words = f"{said} Resume to ask again what has no label, which is paid for again."
        batches.withdraw(batch=self.batch, worker=self._worker, error=words, pause=True)

    def _may_go_on(self) -> bool:
        """Whether what was not submitted yet still should be; where a person paused, it is withdrawn."""
        if self.batch.cancel:
            batches.withdraw(batch=self.batch, worker=self._worker)
            return False
        return DetectionJob.objects.filter(pk=self.batch.job_id, state=JobState.RUNNING).exists()

    def _refused(self, error: ProviderError) -> None:
        """A refusal that waiting doesn't mend ends the batch and pauses the job; any other is raised."""
        if error.kind is not ErrorKind.PERMANENT:
            raise error
        said = engine.pause_reason(error, self.batch.job.detector.endpoint())
        batches.withdraw(batch=self.batch, worker=self._worker, error=said, pause=True)
        self.batch.refresh_from_db()


@contextmanager
def _held(pk: int) -> Iterator[_Hold | None]:
    """Name this worker on a batch, with a counter that grows meanwhile; None where another one works on it."""
    batch = BatchJob.objects.select_related("job__detector").get(pk=pk)
    if batch.worker and not _watch.stands_still(batch):
        yield None
        return
    worker = str(uuid4())
    free = BatchJob.objects.filter(pk=pk, worker=batch.worker, beat=batch.beat, state__in=OPEN_BATCHES)
    if not free.update(worker=worker, beat=F("beat") + 1):
        yield None
        return
    over = threading.Event()
    heart = threading.Thread(target=_beat, args=(pk, worker, over), name="batch", daemon=True)
    heart.start()
    try:
        yield _Hold(batch, worker)
    except TakenOver:
        log.info("Batch %d is another worker's now", pk)
    finally:
        over.set()
        heart.join()
        BatchJob.objects.filter(pk=pk, worker=worker).update(worker="")


def _beat(pk: int, worker: str, over: threading.Event) -> None:
    """Say that the worker lives, for as long as its step takes."""
    try:
        while not over.wait(float(settings.ENGINE["beat"])):
            BatchJob.objects.filter(pk=pk, worker=worker).update(beat=F("beat") + 1)
    finally:
        connection.close()
