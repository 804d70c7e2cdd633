"""The demo's people, its password, and its data folder: made on the first start, removed on request."""

import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from annotate.models import User
from annotate.models.people import Role
from annotate.services import people
from fpco_site import env
from fpco_site.errors import Conflict

LOADING, LOADED = "loading", "loaded"
PEOPLE = (
    ("ada", Role.AUTHOR, "curates the items and runs the models"),
    ("ben", Role.AUTHOR, "reviews what Ada wrote"),
    ("lea", Role.ANNOTATOR, "labels responses, blind"),
    ("lou", Role.ANNOTATOR, "labels the same ones"),
    ("rita", Role.READER, "reads the results"),
)


def password() -> str:
    """The password that all demo people start with: made once for this data folder."""
    return env.secret("FPCO_DEMO_PASSWORD", settings.DATA_DIR / "demo_password", length=9)


def is_loaded() -> bool:
    return _state() == LOADED


def is_unfinished() -> bool:
    """Whether a load was stopped half-way; the next one goes on from there."""
    return _state() == LOADING


def load(*, progress: Callable[[str], None] = lambda _: None) -> None:
    """Make the people and load the demo study; a database with anybody else's work is refused."""
    from benchmark.services import demo

    if not _state() and User.objects.exists():
        raise Conflict("This database already holds a study: give the demo a folder of its own with FPCO_DATA_DIR.")
    _mark().write_text(LOADING)
    demo.load(people=_people(), progress=progress)
    _mark().write_text(LOADED)


@transaction.atomic
def _people() -> dict[str, User]:
    """Every demo person, with the demo's password where the person is new."""
    known = {person.username: person for person in User.objects.all()}
    return {
        name: known.get(name) or people.create(username=name, role=role, password=password())[0]
        for name, role, _ in PEOPLE
    }


def remove() -> None:
    """Remove the demo's database, pictures and releases; a folder that never was the demo's is refused."""
    database = Path(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or not database.is_relative_to(settings.DATA_DIR):
        raise Conflict("Only a SQLite database in the data folder can be begun anew, and DATABASE_URL names another.")
    if database.exists() and not _state():
        raise Conflict(f"{database} is not the demo's: RESET=1 would remove a study, so nothing was done.")
    connection.close()
    for path in (database, *(database.with_name(database.name + end) for end in ("-wal", "-shm")), _mark()):
        path.unlink(missing_ok=True)
    for folder in (settings.MEDIA_ROOT, settings.DATA_DIR / "releases"):
        shutil.rmtree(folder, ignore_errors=True)


def _state() -> str:
    """Empty where this folder never was the demo's."""
    return _mark().read_text() if _mark().exists() else ""


def _mark() -> Path:
    path: Path = settings.DATA_DIR / "demo"
    return path
