"""Everything `make check` looks at, one step after the other; each failure is shown, none hides the next."""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fpco_site.devtools import bootstrap

ROOT = bootstrap.ROOT
BIN = Path(sys.executable).parent
DEPLOYED = {
    "FPCO_PUBLIC_URL": "https://fpco.example.org",
    "FPCO_DEBUG": "",
    "FPCO_SECRET_KEY": secrets.token_urlsafe(64),
}


def steps() -> list[tuple[str, list[str]]]:
    """(name, command) of each step."""
    manage = [sys.executable, "manage.py"]
    templates = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "templates").rglob("*.html"))
    return [
        ("lock file", [bootstrap.find_uv(), "lock", "--check", "--quiet"]),
        ("ruff check", [str(BIN / "ruff"), "check", "--quiet", "."]),
        ("ruff format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."]),
        ("djade", [str(BIN / "djade"), "--check", *templates]),
        ("mypy", [str(BIN / "mypy"), "--num-workers", "auto", "manage.py", "fpco_site", "annotate", "benchmark"]),
        ("import contracts", [str(BIN / "lint-imports")]),
        ("migrations", [*manage, "makemigrations", "--check", "--dry-run"]),
        ("deployment settings", [*manage, "check", "--deploy", "--fail-level", "WARNING"]),
        ("OpenAPI", [*manage, "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull]),
    ]


def run(name: str, command: list[str], env: dict[str, str]) -> bool:
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    verdict = "ok" if done.returncode == 0 else "FAILED"
    say(f"{name:<20} {verdict:<7}{time.monotonic() - begin:6.1f} s")
    if done.returncode:
        say(done.stdout + done.stderr)
    return done.returncode == 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="fpco-check-") as data:
        env = {**os.environ, **DEPLOYED, "FPCO_DATA_DIR": data, "DATABASE_URL": f"sqlite:///{data}/fpco.sqlite3"}
        failed = [name for name, command in steps() if not run(name, command, env)]
    say(f"Failed: {', '.join(failed)}." if failed else "All checks hold.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
