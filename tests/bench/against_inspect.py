"""Answers a second beside those of Inspect AI: the same stub, dialogues, pictures and machine, one after the other."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fpco_site.devtools import bootstrap
from tests import services
from tests.bench import _asking
from tests.bench._asking import Batch, Plan
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
VERSION = "0.3.285"
HOME = ROOT / ".tools" / f"inspect-{VERSION}"
LANES, LATENCY, DIALOGUES = 128, 0.2, 256
# Our provider, and Inspect's for the same protocol.
PROTOCOLS = {
    "Chat Completions": ("openai_compatible", "openai-api/stub/stub"),
    "Responses": ("openai", "openai/stub"),
}


def bench(servers: Servers) -> list[Figure]:
    python = environment()
    return [figure for name in PROTOCOLS for figure in _compare(servers, python, name)]


def environment() -> Path:
    """The Python of an environment with this Inspect, made where it is missing."""
    python = HOME / "bin" / "python"
    if not (HOME / "complete").exists():
        uv = bootstrap.find_uv()
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
        wanted = [f"inspect-ai=={VERSION}", "openai>=3.57"]
        subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *wanted], check=True)
        (HOME / "complete").touch()
    return python


def _compare(servers: Servers, python: Path, name: str) -> list[Figure]:
    ours, theirs = PROTOCOLS[name]
    with services.temporary_folder() as folder:
        dialogues = folder / "dialogues.json"
        plan = Plan(ours, (DIALOGUES,), LANES, say=str(dialogues))
        outcome = _asking.measure(plan, latency=LATENCY, database="", broker=servers.broker, folder=folder)
        found = inspect(python, dialogues, theirs)
    (batch,) = outcome.batches
    return _figures(name, batch, found, lost=outcome.asked - outcome.stored)


def inspect(python: Path, dialogues: Path, model: str) -> dict[str, Any]:
    """What the task says: `seconds`, `answers`, `status`, and `cpu` in seconds."""
    task = Path(__file__).with_name("_inspect_task.py")
    with _asking.stub(LATENCY) as address, tempfile.TemporaryDirectory() as logs:
        command = [python, "-P", task, dialogues, model, f"{address}v1", LANES, logs]
        env = {key: value for key, value in os.environ.items() if not key.startswith("INSPECT_")}
        said = subprocess.run(
            [str(part) for part in command], cwd=logs, env=env, stdout=subprocess.PIPE, check=True, text=True
        )
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    if found["status"] != "success" or found["answers"] != DIALOGUES * _asking.TURNS:
        raise RuntimeError(f"Inspect did not ask everything: {found}")
    return found


def _figures(name: str, batch: Batch, found: dict[str, Any], *, lost: int) -> list[Figure]:
    theirs = found["answers"] / found["seconds"]
    on = f"{name}, latency {LATENCY} s, {LANES} at once, {batch.answers:,} requests with 200 KB pictures"
    return [
        Figure("answers stored a second", batch.rate, "/s", f"{on}, SQLite"),
        Figure("Inspect AI: answers a second", theirs, "/s", f"{VERSION}; {on}"),
        Figure("ours / Inspect AI", batch.rate / theirs, "x", f"bound: 4; {on}"),
        Figure("processor time of the worker for an answer", 1000 * batch.cpu / batch.answers, "ms", on),
        Figure(
            "Inspect AI: processor time for an answer", 1000 * found["cpu"] / found["answers"], "ms", f"{VERSION}; {on}"
        ),
        Figure("requests that left no answer", lost, "", f"bound: 0; {on}"),
    ]
