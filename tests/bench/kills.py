"""Twenty kills of worker, broker and database over three runs of 300 dialogues: what was stored, asked again, paid."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
DIALOGUES, KILLS, SEED = 100, 20, 2024


def bench(servers: Servers) -> list[Figure]:
    """The servers are its own, as they are killed."""
    return [figure for postgres in (False, True) for figure in _figures(_report(postgres=postgres))]


def _report(*, postgres: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.kills", "--dialogues", str(DIALOGUES), "--kills", str(KILLS)]
    command += ["--seed", str(SEED), *(["--postgres"] if postgres else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise RuntimeError(f"The kills did not end: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _figures(report: dict[str, Any]) -> list[Figure]:
    where = report["database"]
    killed = ", ".join(f"{count} of the {name}" for name, count in sorted(report["kills"].items()))
    held = "all held" if not report["broken"] else f"BROKEN: {'; '.join(report['broken'])}"
    lost = sum(report["tokens_lost"][index] for index in (0, 2))
    in_flight = f"bound: {report['lanes_at_kills']} calls in flight at kills of the worker"
    planned = f"{report['planned']:,} planned, each once; {held}"
    return [
        Figure(f"kills, {where}", sum(report["kills"].values()), "kills", killed),
        Figure(f"turns stored, {where}", report["stored"], "turns", planned),
        Figure(f"calls asked again for a kill, {where}", report["asked_again"], "calls", in_flight),
        Figure(f"attempts without an answer, {where}", report["failed_attempts"], "attempts", "listed apart"),
        Figure(
            f"cost of stored answers, {where}", float(report["cost"]), "$", f"${report['cost_of_stub']} by the stub"
        ),
        Figure(f"tokens that a kill lost, {where}", lost, "tokens", "handed out, never stored"),
        Figure(f"time, {where}", report["seconds"], "s", f"seed {report['seed']}"),
    ]
