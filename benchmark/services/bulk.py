"""Many rows at once: `executemany` on SQLite, COPY on PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models

AS_GIVEN = {
    models.ForeignKey,
    models.PositiveIntegerField,
    models.PositiveSmallIntegerField,
    models.FloatField,
    models.BooleanField,
}


def reserve(model: type[models.Model], count: int) -> Sequence[int]:
    """Primary keys that no other writer will use; inside the transaction that inserts the rows.

    SQLite has one writer at a time, so the next numbers are free; PostgreSQL's sequence gives each
    number once, whoever asks.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute(
            f"SELECT MAX(COALESCE((SELECT seq FROM sqlite_sequence WHERE name = %s), 0), "
            f'COALESCE((SELECT MAX(id) FROM "{table}"), 0))',
            [table],
        )
        start = cursor.fetchone()[0] + 1
        return range(start, start + count)


def insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows of plain values, in the order of `columns`. Values are not converted by fields.

    Raises RuntimeError when `rows` asks the database while it is read: a connection in the middle of a COPY waits
    for itself without end.
    """
    table, listed = model._meta.db_table, ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor, connection.execute_wrapper(_refuse):
        if connection.vendor == "postgresql":
            with cursor.copy(f'COPY "{table}" ({listed}) FROM STDIN') as copy:
                for row in rows:
                    copy.write_row(row)
            return
        marks = ", ".join("?" * len(columns))
        # The driver's own method: Django's wrapper would keep all rows in memory to look at the first.
        connection.connection.executemany(f'INSERT INTO "{table}" ({listed}) VALUES ({marks})', rows)


def _refuse(_execute: Any, sql: str, *_: Any) -> None:
    raise RuntimeError(f"These rows ask the database while they are inserted: {sql}")


def create(rows: Sequence[models.Model]) -> None:
    """Insert new rows of one model in one statement, without the detours of `bulk_create`, which took most of a commit.

    Fields that store what they are given are read as they are; the others (text that is escaped, bytes that are
    compressed, JSON, times) convert as always. Primary keys are left to the database and not set on the rows.
    """
    if not rows:
        return
    fields = [field for field in rows[0]._meta.concrete_fields if not field.primary_key]
    values = [value for row in rows for value in _values(row, fields)]
    listed = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(f'INSERT INTO "{rows[0]._meta.db_table}" ({listed}) VALUES {marks}', values)


def _values(row: models.Model, fields: "Sequence[models.Field[Any, Any]]") -> list[Any]:
    return [
        getattr(row, field.attname)
        if type(field) in AS_GIVEN
        else field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for field in fields
    ]


def moment(value: datetime) -> Any:
    """A time as `insert` takes it."""
    return value if connection.vendor == "postgresql" else connection.ops.adapt_datetimefield_value(value)
