"""Open-weight models on this machine, by PyTorch and Transformers (the extra `local`).

Lanes put their requests in a queue; one thread takes up to a batch of them, generates once and hands
each its reply. This module and `_local_model` need neither Django nor Python 3.12, and torch is
imported in that thread, so that a worker which runs no local model never loads it.
"""

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import Any, Protocol

from fpco_site.errors import Invalid, NotConfigured
from fpco_site.llm.types import Endpoint, ErrorKind, Outcome, ProviderError, Reply, Request, Usage

NEEDS = ("torch", "transformers", "torchvision", "accelerate")
MISSING = "Local models need PyTorch and Transformers. Install the extra: uv sync --extra local."
STOPPED = "The worker stopped before the model had answered."
CODE = "local_model"  # of errors that every request to this model would meet
GATHER = 0.05  # seconds that a batch which is not full waits for one more request
LINGER = 0.5  # seconds that a model without requests is kept while another waits to be loaded
LEAVE = 30.0  # seconds that closing waits for the thread


@dataclass(frozen=True)
class Options:
    """What an endpoint's options may say.

    `batch` is requests at once, `device` auto, cuda, cuda:1, mps, cpu or *spread* (over all GPUs), `dtype` auto or a
    name such as bfloat16, `revision` a branch, tag or commit. `attention` names an implementation, `processor` holds
    settings of the checkpoint's own processor, such as `max_pixels`. `system` says whether the system prompt has a
    message of its own or, for a chat template that has none, stands before the first question (*user*).
    """

    batch: int = 8
    device: str = "auto"
    dtype: str = "auto"
    revision: str = ""
    attention: str = ""
    system: str = "system"
    trust_remote_code: bool = False
    processor: dict[str, Any] = field(default_factory=dict)


def check(endpoint: Endpoint) -> Options:
    """The endpoint's options. Raises Invalid for settings that a local model can't be asked with."""
    if endpoint.temperature or endpoint.top_p not in (None, 1.0):
        raise Invalid("Local models decode greedily: leave temperature at 0 and top-p unset.")
    return read_options(endpoint.options)


def read_options(given: dict[str, Any]) -> Options:
    """Raises Invalid for an option that is unknown or of the wrong kind."""
    known = {one.name: one for one in fields(Options)}
    if unknown := sorted(given.keys() - known.keys()):
        raise Invalid(f"A local model has no option {unknown[0]!r}; it has {', '.join(known)}.")
    options = Options(**given)
    for name in known:
        if type(getattr(options, name)) is not type(getattr(Options(), name)):
            raise Invalid(f"The option {name!r} of a local model is of the wrong kind; it can't be {given[name]!r}.")
    if not 1 <= options.batch <= 256:
        raise Invalid("The option 'batch' of a local model is from 1 to 256.")
    if options.system not in {"system", "user"}:
        raise Invalid("The option 'system' of a local model is 'system' or 'user'.")
    return options


class CantLoad(Exception):
    """The model can't be had here; its text is one sentence that says why."""


class OutOfMemory(Exception):
    """A batch did not fit on the device."""


@dataclass(frozen=True)
class Said:
    """What one generation brought. `finish_reason`: stop (by itself), length (at the cap), stopped (the worker ends).

    `seconds` are those of the whole batch.
    """

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int
    model: str
    seconds: float
    raw: bytes


class LocalModel(Protocol):
    """What `_local_model.Model` is to this module."""

    def generate(self, requests: Sequence[Request], *, cap: int, stop: Callable[[], bool]) -> list[Said]: ...

    def tidy(self) -> None:
        """Give memory that nothing holds any more back to the device."""
        ...


class House:
    """The model that this process holds: one at a time, changed only by whoever has the turn."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self._name = ""
        self._model: LocalModel | None = None

    def model(self, name: str, load: Callable[[], LocalModel]) -> LocalModel:
        """The model of that name, loaded where another is held, or none. Raises CantLoad."""
        if self._model is None or self._name != name:
            self.drop()
            self._model, self._name = load(), name
        return self._model

    def held(self) -> str:
        """The id of the model that is held; empty where none is."""
        return str(json.loads(self._name)[0]) if self._name else ""

    def drop(self) -> None:
        """Release what is held."""
        held, self._model, self._name = self._model, None, ""
        if held is not None:
            tidy = held.tidy
            del held
            tidy()

    def release(self, name: str) -> None:
        """Release the model of that name, unless another is held by now."""
        with self.turn:
            if self._name == name:
                self.drop()


HOUSE = House()


@dataclass
class Job:
    """A request on its way, and where its reply goes."""

    request: Request
    future: "Future[Reply]" = field(default_factory=Future)

    def settle(self, end: Reply | Exception) -> None:
        if isinstance(end, Exception):
            self.future.set_exception(end)
        else:
            self.future.set_result(end)


class Transformers:
    """Decodes greedily, as the study did: a positive temperature or a top-p below 1 is refused."""

    simulated = False

    def __init__(self, endpoint: Endpoint, key: str = "") -> None:
        if not is_installed():
            raise NotConfigured(MISSING)
        self._endpoint = endpoint
        self._options = check(endpoint)
        self._name = json.dumps([endpoint.model_id, vars(self._options)], sort_keys=True)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._most = self._options.batch  # requests at once that fit into memory, as far as is known

    async def ask(self, request: Request) -> Reply:
        """Wait for a place in a batch and for its reply."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._main, name="local-model", daemon=True)
            self._thread.start()
        job = Job(request)
        self._jobs.put(job)
        return await asyncio.wrap_future(job.future)

    async def close(self) -> None:
        """End a generation that is under way, release the model and end the thread."""
        self._stop.set()
        self._jobs.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, LEAVE)

    def _main(self) -> None:
        while not self._stop.is_set():
            jobs = self._gather(None)
            with HOUSE.turn:
                while jobs:
                    self._serve(jobs)
                    jobs = self._gather(LINGER)
        HOUSE.release(self._name)
        self._refuse(ProviderError(ErrorKind.TRANSIENT, STOPPED))

    def _gather(self, patience: float | None) -> list[Job]:
        """Up to a batch of requests; none where none came within `patience` seconds, or where it ends."""
        jobs: list[Job] = []
        while len(jobs) < self._most:
            try:
                job = self._jobs.get(timeout=patience)
            except queue.Empty:
                return jobs
            if job is None:
                self._jobs.put(None)
                return jobs
            if job.future.set_running_or_notify_cancel():
                jobs.append(job)
            patience = GATHER
        return jobs

    def _serve(self, jobs: Sequence[Job]) -> None:
        """Answer these requests, those with a picture apart from those without."""
        try:
            model = HOUSE.model(self._name, self._load)
        except Exception as error:
            refusal = ProviderError(ErrorKind.PERMANENT, str(error) or type(error).__name__, code=CODE)
            for job in jobs:
                job.settle(refusal)
            self._refuse(refusal)
            return
        for with_picture in (True, False):
            alike = [job for job in jobs if (job.request.picture is not None) == with_picture]
            if alike:
                self._generate(model, alike)

    def _load(self) -> LocalModel:
        try:
            from fpco_site.llm.providers import _local_model
        except ImportError as error:
            raise CantLoad(f"PyTorch or Transformers can't be used here: {error}.") from error
        return _local_model.Model(self._endpoint.model_id, self._options)

    def _generate(self, model: LocalModel, jobs: Sequence[Job]) -> None:
        """One generation; where it fails, smaller ones, so that no request spoils another's answer."""
        ends = self._ends(model, jobs)
        if not isinstance(ends, Exception):
            for job, said in zip(jobs, ends, strict=True):
                job.settle(reply_of(said))
        elif len(jobs) == 1:
            jobs[0].settle(refusal_of(ends))
        else:
            smaller = 1
            if isinstance(ends, OutOfMemory):
                model.tidy()
                smaller = self._most = len(jobs) // 2
            for start in range(0, len(jobs), smaller):
                self._generate(model, jobs[start : start + smaller])

    def _ends(self, model: LocalModel, jobs: Sequence[Job]) -> list[Said] | Exception:
        requests = [job.request for job in jobs]
        try:
            return model.generate(requests, cap=self._endpoint.max_output_tokens, stop=self._stop.is_set)
        except Exception as error:
            return error.with_traceback(None)  # which would keep the tensors that did not fit

    def _refuse(self, error: ProviderError) -> None:
        """Fail what waits in the queue; a word to end stays there."""
        ends = False
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                ends = True
            elif job.future.set_running_or_notify_cancel():
                job.settle(error)
        if ends:
            self._jobs.put(None)


def reply_of(said: Said) -> Reply | ProviderError:
    """A generation as a reply: it ended by itself, was cut at the cap, or has no text."""
    if said.finish_reason == "stopped":
        return ProviderError(ErrorKind.TRANSIENT, STOPPED)
    outcome, reason = Outcome.ANSWERED, ""
    text: str | None = said.text
    if not said.text.strip():
        outcome, text = Outcome.EMPTY, None
        reason = "The model ended without text." if said.finish_reason == "stop" else "No text before the token cap."
    elif said.finish_reason == "length":
        outcome, reason = Outcome.CUT, "The answer was cut off at the token cap."
    return Reply(
        outcome=outcome,
        text=text,
        finish_reason=said.finish_reason,
        reason=reason,
        model=said.model,
        usage=Usage(input=said.input_tokens, output=said.output_tokens),
        seconds=said.seconds,
        raw=said.raw,
    )


def is_installed() -> bool:
    """Whether the extra is there; nothing is imported."""
    return all(find_spec(name) is not None for name in NEEDS)


def refusal_of(error: Exception) -> ProviderError:
    """What a request that failed alone is told."""
    if isinstance(error, ProviderError):
        return error
    words = str(error).strip().splitlines()
    return ProviderError(ErrorKind.PERMANENT, f"{type(error).__name__}: {words[0][:300] if words else 'no words'}")
