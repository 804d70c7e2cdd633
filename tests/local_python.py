"""The pass `local` (`python -m tests.local_python`) and its environment: PyTorch and no Django, in `.tools/local`.

It stands apart from `.venv`, because PyTorch is an optional extra and large, and on the system's own Python, because
machines with GPUs often have an older one than the project: what touches PyTorch must run on 3.11.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "local"
FOLDER = ROOT / ".tools" / "local"
WANTED = TESTS / "requirements.txt"
OLDEST = (3, 11)


class CantPrepare(Exception):
    """The environment could not be made; says why."""


def prepare() -> Path:
    """The Python to run `tests/local` with, installed where it isn't there yet as the requirements say."""
    python, stamp = FOLDER / "bin" / "python", FOLDER / "installed.txt"
    if stamp.exists() and stamp.read_text() == WANTED.read_text():
        return python
    shutil.rmtree(FOLDER, ignore_errors=True)
    _run([choose(), "-m", "venv", str(FOLDER)])
    # Which build of PyTorch is taken is pip's own business: its settings and environment say where wheels are.
    _run([str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--requirement", str(WANTED)])
    shutil.copyfile(WANTED, stamp)
    return python


def choose() -> str:
    """FPCO_LOCAL_PYTHON, else the first of the system's Python, that on PATH and ours which is new enough."""
    given = os.environ.get("FPCO_LOCAL_PYTHON")
    for candidate in [given] if given else ["/usr/bin/python3", shutil.which("python3"), sys.executable]:
        if candidate and _version(candidate) >= OLDEST:
            return candidate
    raise CantPrepare(f"{given} is no Python from {OLDEST[0]}.{OLDEST[1]} on that can make a virtual environment.")


def _version(python: str) -> tuple[int, int]:
    """(major, minor); (0, 0) where it doesn't run or can't make virtual environments."""
    asked = "import sys, ensurepip, venv; print(*sys.version_info[:2])"
    try:
        said = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0, 0
    major, minor = said.split()
    return int(major), int(minor)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CantPrepare(f"{' '.join(command)} failed:\n{done.stderr[-2000:] or done.stdout[-2000:]}")


def main(options: list[str]) -> int:
    """Run pytest over `tests/local`; 1 where its environment can't be made."""
    try:
        python = prepare()
    except CantPrepare as error:
        sys.stderr.write(f"{error}\n")
        return 1
    command = [python, "-m", "pytest", "-c", TESTS / "pytest.ini", "--rootdir", TESTS, TESTS, *options]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
