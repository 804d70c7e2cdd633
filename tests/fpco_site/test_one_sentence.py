"""A newcomer's mistakes around a command, each in a process of its own as it is typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def typed(*command: str, data: Path, **env: str) -> tuple[int, str]:
    """Exit code and stderr of `manage.py command`."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("FPCO_", "DATABASE_", "DJANGO_"))
    }
    ended = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command],
        env={**clean, "FPCO_DATA_DIR": str(data), "DATABASE_URL": "", **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stderr


def test_without_migrations_a_command_names_the_step_that_is_missing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    code, said = typed("freeze", "pilot", data=tmp_path, DATABASE_URL=url)
    assert (code, said) == (1, "The database is not set up for this version: run `manage.py migrate` first.\n")


@pytest.mark.parametrize(
    ("env", "sentence"),
    [
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL must be an address that starts with postgres:// or sqlite:///."),
        ({"DATABASE_URL": "mysql://u:pw@h/x"}, "DATABASE_URL must be an address that starts with postgres:// or"),
        ({"DATABASE_URL": "sqlite:////no-such-folder/x"}, "The database can't be used: unable to open database file."),
        (
            {"FPCO_LOG_LEVEL": "LOUD"},
            "FPCO_LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, not 'LOUD'.",
        ),
        ({"CELERY_BROKER_URL": "foo"}, "CELERY_BROKER_URL must be an address that starts with redis://"),
        ({"FPCO_ENGINE_LANES": "abc"}, "FPCO_ENGINE_LANES must be a whole number of at least 1, not 'abc'."),
        ({"FPCO_ENGINE_STALE": "1"}, "FPCO_ENGINE_STALE must be at least three times FPCO_ENGINE_BEAT"),
        ({"FPCO_DATA_DIR": "/proc"}, "/proc/secret_key can't be written"),
        ({"FPCO_DATA_DIR": __file__}, "FPCO_DATA_DIR: "),
    ],
)
def test_a_bad_setting_is_one_line_that_names_it(env: dict[str, str], sentence: str, tmp_path: Path) -> None:
    given = {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}", "FPCO_DATA_DIR": str(tmp_path), **env}
    data = Path(given.pop("FPCO_DATA_DIR"))
    code, said = typed("freeze", "pilot", data=data, **given)
    assert code == 1
    assert said.startswith(sentence)
    assert said.count("\n") == 1
    assert "pw" not in said
