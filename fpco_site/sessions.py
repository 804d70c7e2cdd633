"""Sessions in the database, as Django keeps them, read in one plain statement: each page and each press reads one."""

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as Stored
from django.db import connection
from django.utils import timezone

_READ = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(Stored):
    """Django's, but for how a session is read."""

    def load(self) -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute(_READ, [self.session_key, connection.ops.adapt_datetimefield_value(timezone.now())])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        found: dict[str, Any] = self.decode(row[0])
        return found
