"""The rows that a press reads and writes, in plain statements.

A person waits for each press, and building these queries by the ORM took most of the time of a save.
"""

import uuid
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection, models

from annotate.models import Assignment, Label, LabelSet
from annotate.models.labels import Mode

# Columns in the order of the model's fields, as `from_db` takes them; the others are read where somebody asks.
_MINE = ("id", "label_set_id", "person_id", "order_key", "state", "auto_advance")
_SET = ("id", "mode", "state", "opened_at")
_OF_PERSON = f"SELECT {', '.join(_MINE)} FROM annotate_assignment WHERE label_set_id = %s AND person_id = %s"
_OF_SET = f"SELECT {', '.join(_SET)} FROM annotate_labelset WHERE id = %s"
_KNOWN = """
    SELECT sequence, detect FROM annotate_label
    WHERE assignment_id = %s AND task_id = %s AND client = %s AND sequence >= %s ORDER BY sequence LIMIT 1
"""


def hold(*, label_set: int, person: int) -> Assignment | None:
    """This person's assignment with its set, of both the columns that a press needs; None where there is none.

    Held until the transaction ends as `labels.lock` holds it: the assignment, and the set too if it is a pool.
    """
    waits = connection.features.has_select_for_update
    mine = _one(_OF_PERSON + (" FOR UPDATE" if waits else ""), [label_set, person])
    if mine is None:
        return None
    held = Assignment.from_db(connection.alias, _MINE, [*mine[:-1], bool(mine[-1])])
    held.label_set = _set(label_set)
    if waits and held.label_set.mode == Mode.POOL:
        held.label_set = _set(label_set, " FOR NO KEY UPDATE")
    return held


def _set(pk: int, lock: str = "") -> LabelSet:
    row = _one(_OF_SET + lock, [pk])
    assert row is not None  # an assignment has a set
    return LabelSet.from_db(connection.alias, _SET, [*row[:-1], _moment(row[-1])])


def known(*, assignment: int, task: uuid.UUID, client: uuid.UUID, sequence: int) -> tuple[int, bool] | None:
    """The first press of this page on this task that is as late as `sequence`, with its answer."""
    row = _one(_KNOWN, [assignment, _key(task), _key(client), sequence])
    return (row[0], bool(row[1])) if row else None


def insert(label: Label) -> Label:
    """Store a new label, every value converted by its field."""
    fields = _fields()
    values = [field.get_db_prep_save(field.pre_save(label, add=True), connection) for field in fields]
    row = _one(_insertion(), values)
    assert row is not None
    label.pk, label._state.adding = row[0], False
    return label


@cache
def _fields() -> "list[models.Field[Any, Any]]":
    return [field for field in Label._meta.concrete_fields if not field.primary_key]


@cache
def _insertion() -> str:
    listed = ", ".join(f'"{field.column}"' for field in _fields())
    return f"INSERT INTO annotate_label ({listed}) VALUES ({', '.join(['%s'] * len(_fields()))}) RETURNING id"


def _one(statement: str, values: list[Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def _key(value: uuid.UUID) -> Any:
    return value if connection.features.has_native_uuid_field else value.hex


def _moment(value: Any) -> datetime:
    """A time as the ORM gives it; SQLite keeps times as text."""
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)
