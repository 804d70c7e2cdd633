"""Settings read from the environment; a bad value is refused with a sentence that names it."""

import math
import os
import secrets
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
_env = environ.Env()
# The address is not shown: it may hold a password.
_NO_DATABASE = "{name} must be an address that starts with postgres:// or sqlite:///."
BROKERS = ("redis", "rediss", "redis+socket", "sentinel", "amqp", "amqps", "memory")


def load_dotenv() -> None:
    """Read `.env` beside `manage.py`; what the environment already says wins."""
    environ.Env.read_env(BASE_DIR / ".env", overwrite=False)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, default: bool = False) -> bool:
    raw = text(name)
    if not raw:
        return default
    if raw.lower() in {"1", "true", "yes", "on"}:
        return True
    if raw.lower() in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {raw!r}.")


def integer(name: str, default: int, *, least: int = 0) -> int:
    raw = text(name)
    if not raw:
        return default
    if not raw.lstrip("-").isdigit() or int(raw) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {least}, not {raw!r}.")
    return int(raw)


def number(name: str, default: float) -> float:
    raw = text(name)
    try:
        value = float(raw) if raw else default
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ImproperlyConfigured(f"{name} must be a number of at least 0, not {raw!r}.")
    return value


def choice(name: str, default: str, among: Collection[str]) -> str:
    """One of `among`, in capitals."""
    value = (text(name) or default).upper()
    if value not in among:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(among)}, not {text(name)!r}.")
    return value


def broker(name: str, default: str) -> str:
    """A broker's address of a kind that Celery knows."""
    raw = text(name) or default
    if raw.partition("://")[0] not in BROKERS or "://" not in raw:
        raise ImproperlyConfigured(f"{name} must be an address that starts with redis://, rediss:// or amqp://.")
    return raw


def words(name: str, default: list[str]) -> list[str]:
    raw = text(name)
    return [word.strip() for word in raw.split(",") if word.strip()] if raw else default


def folder(name: str, default: Path) -> Path:
    """An absolute folder, made if it is missing."""
    path = Path(text(name) or default).expanduser()
    path = path if path.is_absolute() else BASE_DIR / path
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {path} can't be used as a folder ({error.strerror}).") from error
    return path


def url(name: str, default: str) -> str:
    """An http(s) address without a trailing slash."""
    raw = text(name, default) or default
    parts = urlsplit(raw)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ImproperlyConfigured(f"{name} must be an http or https address, not {raw!r}.")
    return raw.rstrip("/")


def database(name: str, default: str) -> dict[str, Any]:
    """Django's database settings from an address.

    SQLite writes ahead (WAL), takes its write lock at BEGIN and waits for it, so that concurrent
    writers queue instead of failing; `synchronous=FULL` keeps what was acknowledged at power loss.
    """
    if not text(name):
        os.environ[name] = default
    if text(name).partition("://")[0] not in {"postgres", "postgresql", "psql", "pgsql", "sqlite"}:
        raise ImproperlyConfigured(_NO_DATABASE.format(name=name))
    try:
        config: dict[str, Any] = dict(_env.db(name))
    except (environ.ImproperlyConfigured, ValueError) as error:
        raise ImproperlyConfigured(_NO_DATABASE.format(name=name)) from error
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
    else:
        config.setdefault("CONN_MAX_AGE", 60)
        config.setdefault("CONN_HEALTH_CHECKS", True)
    return config


def _keep_first(path: Path, value: str) -> None:
    """Write a file (mode 600) that is there only once it is whole; of processes that start together, one writes it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-") as file:
        file.write(value)
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


def secret(name: str, path: Path, *, length: int = 64) -> str:
    """The secret from the environment; else one of `length` random bytes, made once and kept in `path` (mode 600)."""
    given = text(name)
    if given:
        return given
    if not path.exists():
        try:
            _keep_first(path, secrets.token_urlsafe(length))
        except OSError as error:
            raise ImproperlyConfigured(f"{path} can't be written ({error.strerror}).") from error
    kept = path.read_text().strip()
    if not kept:
        raise ImproperlyConfigured(f"{path} is empty: remove it, or set {name}.")
    return kept
