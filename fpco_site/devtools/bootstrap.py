"""Install the project into its own folder: `python3 fpco_site/devtools/bootstrap.py`.

Runs on any Python from 3.8 with the standard library alone, since it is what brings everything else.
Takes uv from PATH, or puts it into `.tools/uv`; takes a Python of the right version from this machine,
or lets uv put one into `.tools/python`; then installs the locked packages into `.venv`.
"""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN_UV = ROOT / ".tools" / "uv"
OWN_PYTHON = ROOT / ".tools" / "python"
OLDEST_UV = (0, 8)


class BootstrapError(Exception):
    """One sentence that says what is missing and how to get it."""


def uv_version(uv: str) -> tuple[int, int]:
    """(major, minor) of a uv program; (0, 0) where it doesn't run."""
    try:
        said = subprocess.run([uv, "--version"], capture_output=True, text=True, check=True).stdout
        major, minor = said.split()[1].split(".")[:2]
        return int(major), int(minor)
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 0, 0


def find_uv() -> str:
    """uv from PATH if it is new enough to read the lock file, else the project's own."""
    own = str(OWN_UV / "bin" / "uv")
    for candidate in (shutil.which("uv"), own):
        if candidate and uv_version(candidate) >= OLDEST_UV:
            return candidate
    install_uv()
    if uv_version(own) < OLDEST_UV:
        raise BootstrapError(f"uv was installed into {OWN_UV} but doesn't run there: remove that folder and try again.")
    return own


def install_uv() -> None:
    say("Installing uv into .tools/uv ...")
    if subprocess.run([sys.executable, "-m", "venv", "--clear", str(OWN_UV)], capture_output=True).returncode:
        shutil.rmtree(OWN_UV, ignore_errors=True)
        raise BootstrapError(
            f"{sys.executable} can't make a virtual environment: install its venv module "
            "(on Debian and Ubuntu: apt install python3-venv) or uv (https://docs.astral.sh/uv), then run this again."
        )
    pip = [str(OWN_UV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if subprocess.run([*pip, "--only-binary", ":all:", "uv>={}.{}".format(*OLDEST_UV)]).returncode:
        raise BootstrapError("pip could not install uv (its message is above): check the network, then run this again.")


def interpreters() -> list[Path]:
    """Pythons 3.13, 3.14 and 3.12 under pyenv, which uv sees only where pyenv's shims are on PATH."""
    roots = [Path(os.environ.get("PYENV_ROOT") or "~/.pyenv"), Path("/opt/pyenv")]
    try:
        import pwd

        roots.append(Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pyenv")
    except (ImportError, KeyError):
        pass
    found = []
    for version in ("3.13", "3.14", "3.12"):
        for root in roots:
            found += sorted(root.expanduser().glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
    return found


def choose_python(uv: str) -> list[str]:
    """uv's option that picks the Python: none where uv finds the wanted version by itself."""
    wanted = (ROOT / ".python-version").read_text().strip()
    if run_uv(uv, "python", "find", quiet=True):
        return []
    others = interpreters()
    same = [path for path in others if path.name == f"python{wanted}"]
    if same:
        return ["--python", str(same[0])]
    say(f"Installing Python {wanted} into .tools/python ...")
    if run_uv(uv, "python", "install", wanted, quiet=bool(others)):
        return []
    if not others:
        raise BootstrapError(f"No Python {wanted} was found, and uv could not download one (its message is above).")
    say(f"It can't be downloaded; using {others[0]}.")
    return ["--python", str(others[0])]


def install(uv: str) -> None:
    """Make `.venv` what the lock file says."""
    choice = choose_python(uv)
    if not (ROOT / ".venv").exists():
        say("Installing the locked packages into .venv ...")
    # Compiled once here, and not by each of the processes that a demo or the tests start.
    if not run_uv(uv, "sync", "--quiet", "--frozen", "--compile-bytecode", *choice):
        raise BootstrapError("uv could not install the packages (its message is above).")


def run_uv(uv: str, *arguments: str, quiet: bool = False) -> bool:
    env = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    if OWN_PYTHON.exists() or arguments[:2] == ("python", "install"):
        env.setdefault("UV_PYTHON_INSTALL_DIR", str(OWN_PYTHON))
    if has_system_certificates():
        # A network whose proxy signs for itself is known to the system, not to uv's own list.
        env.setdefault("UV_SYSTEM_CERTS", "true")
    return subprocess.run([uv, *arguments], cwd=str(ROOT), env=env, capture_output=quiet).returncode == 0


def has_system_certificates() -> bool:
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile or (paths.capath and os.listdir(paths.capath)))


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def main() -> int:
    try:
        install(find_uv())
    except BootstrapError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
