"""Child processes that end when they should: none outlives the one that started it."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
INTERRUPT = signal.SIGINT


def end_with_parent() -> None:
    """Ask Linux to send this process SIGTERM when its parent dies, however the parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: IO[bytes] | int | None = None,
    user: str | None = None,
) -> subprocess.Popen[bytes]:
    """Start a child in a process group of its own, so that Ctrl-C reaches it only through `stop`.

    To be called from the main thread: Linux counts the end of the calling thread as the parent's end.
    """
    return subprocess.Popen(
        [str(part) for part in command],
        env=None if env is None else {**os.environ, **env},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT if log is not None else None,
        start_new_session=True,
        user=user,
        preexec_fn=end_with_parent,
    )


def stop(
    *children: subprocess.Popen[bytes], grace: float = 10.0, by: signal.Signals = signal.SIGTERM
) -> list[subprocess.Popen[bytes]]:
    """Ask every child to end, wait `grace` seconds for all together, then kill what is left of their groups.

    Returns the children that had to be killed.
    """
    for child in children:
        if child.poll() is None:
            child.send_signal(by)
    deadline = time.monotonic() + grace
    killed = []
    for child in children:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            killed.append(child)
        _kill_group(child.pid)
        child.wait()
    return killed


def _kill_group(leader: int) -> None:
    """Kill what still lives in the group; the leader's id stays the group's while any member lives."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
