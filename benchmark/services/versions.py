"""Versions of what asks: this project's own, Python's and those of the packages that a call goes through."""

import json
import tomllib
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from django.conf import settings

from benchmark.models import Software

PROJECT = "fpco-studio"
PACKAGES = ("django", "celery", "openai", "google-genai", "aiohttp", "httpx2", "torch", "transformers")


def installed() -> dict[str, str]:
    """Versions of what asks, by name."""
    return dict(_installed())


def kept() -> int:
    """DB. The id of the row that holds the versions of this process, made where it is new."""
    return row_of(installed()).pk


def row_of(versions: dict[str, str]) -> Software:
    """DB. The row of these versions."""
    digest = digest_of(versions)
    return Software.objects.get_or_create(sha256=digest, defaults={"versions": versions})[0]


def digest_of(versions: dict[str, str]) -> str:
    return sha256(json.dumps(versions, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """A process keeps the code that it started with, so its versions are read once."""
    own = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found = {PROJECT: str(own), "python": python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return tuple(found.items())
