"""How lists of the API are divided."""

from rest_framework.pagination import LimitOffsetPagination


class Pages(LimitOffsetPagination):
    """`limit` rows from `offset` on; `next` leads to the following ones.

    More than `max_limit` are never sent at once: beyond a column's largest number, databases refuse to count.
    """

    max_limit = 10_000
