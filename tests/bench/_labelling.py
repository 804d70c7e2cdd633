"""Two people who label on a web server as the demo starts it, while something else goes on."""

import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx2

from annotate.models import Dataset, Label, LabelSet
from fpco_site import processes, static_files, supervisor
from tests import factories

TASKS = 360
SIGN_IN = "/account/sign-in/"
PAUSE = 0.5  # seconds between two labels of a person
NAMES = ("lea", "lou")


class Person(threading.Thread):
    """Labels the tasks of a set over and over, as the page does, and takes the time of each."""

    def __init__(self, address: str, name: str, of: LabelSet, tasks: Sequence[uuid.UUID]) -> None:
        super().__init__(name=name, daemon=True)
        self.seconds: list[float] = []
        self.errors: list[str] = []
        self.told = threading.Event()
        self._client = httpx2.Client(base_url=address, timeout=60)
        self._set = of.pk
        self._tasks = tasks

    def sign_in(self) -> None:
        self._client.get(SIGN_IN)
        said = self._post(SIGN_IN, username=self.name, password=factories.PASSWORD)
        if said.status_code != 302:
            raise RuntimeError(f"{self.name} could not sign in: {said.status_code}")

    def run(self) -> None:
        turn = 0
        while not self.told.wait(PAUSE):
            begun = time.perf_counter()
            try:
                task, ahead = (self._tasks[(turn + step) % len(self._tasks)] for step in (0, 1))
                said = self._label(task, ahead, detect=turn % 2)
                if said.status_code != 200:
                    self.errors.append(f"{said.status_code} {said.text[:200]}")
            except httpx2.HTTPError as error:
                self.errors.append(repr(error))
            self.seconds.append(time.perf_counter() - begun)
            turn += 1

    def _label(self, task: uuid.UUID, ahead: uuid.UUID, *, detect: int) -> httpx2.Response:
        values = {"detect": str(detect), "client": str(uuid.uuid4()), "sequence": "1", "seconds": "4.5"}
        values["shown"] = str(ahead)
        return self._post(f"/label/{self._set}/{task}/", **values)

    def _post(self, path: str, **values: str) -> httpx2.Response:
        token = self._client.cookies.get("csrftoken") or ""
        return self._client.post(
            path,
            data={**values, "csrfmiddlewaretoken": token},
            headers={"Accept": "application/json"} if "label" in path else {},
        )


class Labelling:
    """The people at work; `stop` returns what they met."""

    def __init__(self, address: str, over: Dataset) -> None:
        people = [factories.person(name, role="annotator") for name in NAMES]
        label_set = factories.label_set(over, people, tasks=TASKS)
        tasks = list(label_set.tasks.values_list("pk", flat=True))
        self._people = [Person(address, name, label_set, tasks) for name in NAMES]
        for person in self._people:
            person.sign_in()
            person.start()

    def stop(self) -> dict[str, float]:
        """Times in milliseconds. Raises RuntimeError for the first error that somebody saw."""
        for person in self._people:
            person.told.set()
        for person in self._people:
            person.join()
            if person.errors:
                raise RuntimeError(f"{person.name} saw {len(person.errors)} errors: {person.errors[0]}")
        times = sorted(1000 * seconds for person in self._people for seconds in person.seconds)
        return {
            "posts": len(times),
            "p95": times[int(0.95 * (len(times) - 1))],
            "median": median(times),
            "slowest": times[-1],
            "lost": len(times) - Label.objects.count(),
        }


@contextmanager
def web_server(log: Path) -> Iterator[str]:
    """The web server; yields its address."""
    static_files.collect_if_changed()
    with socket.socket() as probe:
        probe.bind((supervisor.HOST, 0))
        port = probe.getsockname()[1]
    address = f"http://{supervisor.HOST}:{port}"
    with open(log, "wb") as file:
        process = processes.start(supervisor.web_command(port), env={"FPCO_PUBLIC_URL": address}, log=file.fileno())
    try:
        _wait_for(address, process, log)
        yield address
    finally:
        processes.stop(process)


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while not supervisor.answers(address):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The web server did not start:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.1)
