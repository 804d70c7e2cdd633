"""Collects static files when they changed, which a second start need not wait for."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_if_changed() -> bool:
    """Fill STATIC_ROOT unless it holds exactly these files; returns whether it had to."""
    mark = Path(settings.STATIC_ROOT) / ".collected"
    wanted = fingerprint()
    if mark.exists() and mark.read_text() == wanted:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    mark.write_text(wanted)
    return True


def fingerprint() -> str:
    """A digest over path, size and time of every static file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda pair: pair[0]):
            stat = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
