"""Database triggers that refuse to change what was written for good."""

from typing import Any

from django.db import migrations


def frozen(table: str, columns: list[str], message: str) -> migrations.RunPython:
    """A migration step: updating any of `columns` of `table` is refused with `message`.

    Works on SQLite and PostgreSQL alike; `message` must not hold a quote. A later migration that alters
    the table must run this again: SQLite makes the table anew and drops its triggers.
    """
    name = f"{table}_frozen"
    listed = ", ".join(f'"{column}"' for column in columns)

    def create(apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "sqlite":
            editor.execute(f'DROP TRIGGER IF EXISTS "{name}"')
            editor.execute(
                f'CREATE TRIGGER "{name}" BEFORE UPDATE OF {listed} ON "{table}" '
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
            return
        editor.execute(
            f'CREATE OR REPLACE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS '
            f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
        )
        editor.execute(
            f'CREATE OR REPLACE TRIGGER "{name}" BEFORE UPDATE OF {listed} ON "{table}" '
            f'FOR EACH ROW EXECUTE FUNCTION "{name}"()'
        )

    def drop(apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "sqlite":
            editor.execute(f'DROP TRIGGER "{name}"')
            return
        editor.execute(f'DROP TRIGGER "{name}" ON "{table}"')
        editor.execute(f'DROP FUNCTION "{name}"()')

    return migrations.RunPython(create, drop)
