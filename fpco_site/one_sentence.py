"""What stops a command before or beside its own work, said in one sentence instead of a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor

INTERRUPTED = 130  # as shells count: 128 + SIGINT


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn a bad setting, a database that can't be used and Ctrl-C into a sentence and an exit code.

    Everything else is a defect and keeps its traceback; so does all of it with `--traceback`.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(INTERRUPTED)
    except (ImproperlyConfigured, OperationalError, ProgrammingError) as error:
        sentence = _sentence(error)
        if sentence is None or "--traceback" in sys.argv:
            raise
        sys.stderr.write(f"{sentence}\n")
        sys.exit(1)


def _sentence(error: Exception) -> str | None:
    """None where it is none of these."""
    if isinstance(error, ImproperlyConfigured):
        return str(error)
    if _lacks_migrations():
        return "The database is not set up for this version: run `manage.py migrate` first."
    if isinstance(error, OperationalError):
        reason = str(error).strip().partition("\n")[0]
        return f"The database can't be used: {reason.rstrip('.')}."
    return None


def _lacks_migrations() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False
