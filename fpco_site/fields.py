"""Model fields for text and bytes that models or people wrote."""

import re
import zlib
from typing import TYPE_CHECKING, Any

from django.db import models

# PostgreSQL refuses NUL, and neither database takes lone surrogates. SUBSTITUTE (U+001A) marks an escape.
_ESCAPED = re.compile("[\x00\x1a\ud800-\udfff]")
_MARKED = re.compile("\x1a(0|s|d[89a-f][0-9a-f]{2})")


def escape(text: str) -> str:
    """Text that every database stores; `unescape` brings the original back."""

    def mark(match: re.Match[str]) -> str:
        char = match.group()
        return {"\x00": "\x1a0", "\x1a": "\x1as"}.get(char) or f"\x1a{ord(char):x}"

    return _ESCAPED.sub(mark, text)


def unescape(text: str) -> str:
    def unmark(match: re.Match[str]) -> str:
        code = match.group(1)
        return {"0": "\x00", "s": "\x1a"}.get(code) or chr(int(code, 16))

    return _MARKED.sub(unmark, text)


if TYPE_CHECKING:
    _Text = models.TextField[str, str]
    _Bytes = models.BinaryField[bytes | None, bytes | None]
else:
    _Text, _Bytes = models.TextField, models.BinaryField


class WrittenField(_Text):
    """Text as it was written, with NUL and lone surrogates escaped reversibly in storage."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return escape(value) if isinstance(value, str) else value

    def from_db_value(self, value: str | None, expression: object, connection: object) -> str | None:
        return unescape(value) if value is not None and "\x1a" in value else value


class CompressedField(_Bytes):
    """Raw bytes of a request or reply, compressed in storage, the same bytes when read."""

    def get_prep_value(self, value: Any) -> Any:
        return None if value is None else zlib.compress(bytes(value), 6)

    def from_db_value(self, value: Any, expression: object, connection: object) -> bytes | None:
        return None if value is None else zlib.decompress(bytes(value))


def one_of(field: str, choices: type[models.TextChoices]) -> models.CheckConstraint:
    """A constraint that keeps `field` within its choices in the database too."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{field}__in": choices.values}),
        name=f"%(app_label)s_%(class)s_{field}_known",
        violation_error_message=f"The {field.replace('_', ' ')} must be one of: {', '.join(choices.values)}.",
    )
