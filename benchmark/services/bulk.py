"""Many rows at once: `executemany` on SQLite, COPY on PostgreSQL."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models


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
    """Insert rows of plain values, in the order of `columns`. Values are not converted by fields."""
    table, listed = model._meta.db_table, ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f'COPY "{table}" ({listed}) FROM STDIN') as copy:
                for row in rows:
                    copy.write_row(row)
            return
        marks = ", ".join("?" * len(columns))
        # The driver's own method: Django's wrapper would keep all rows in memory to look at the first.
        connection.connection.executemany(f'INSERT INTO "{table}" ({listed}) VALUES ({marks})', rows)


def moment(value: datetime) -> Any:
    """A time as `insert` takes it."""
    return value if connection.vendor == "postgresql" else connection.ops.adapt_datetimefield_value(value)
