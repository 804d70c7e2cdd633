"""Writers of one process take turns before they meet in SQLite.

SQLite lets one write at a time, and whoever waits asks again ever more seldom: under steady writing by many, newcomers
go first and somebody waits until the timeout. Threads that queue in memory each get their turn.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

_turn = threading.Lock()


@contextmanager
def atomic() -> Iterator[None]:
    """Like `transaction.atomic`, for short writes that many make at once.

    Whoever is within a transaction already has the database's own lock, and must not wait for those who wait for it.
    """
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with _turn, transaction.atomic():
            yield
    else:
        with transaction.atomic():
            yield
