"""Errors that a person can act on: each says in one sentence what went wrong."""


class FpcoError(Exception):
    """A refusal with one clear sentence for the person who asked.

    Pages show it, the API answers with `status`, commands print it and exit non-zero.
    """

    status = 400

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Invalid(FpcoError):
    """What was given can't be accepted."""


def require_plain(text: str) -> str:
    """The text, for a column or a look-up that keeps no odd signs.

    Raises
    ------
    Invalid
        If it holds NUL or a lone surrogate, which PostgreSQL refuses.
    """
    if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
        raise Invalid("A name can't hold control characters.")
    return text


class Conflict(FpcoError):
    """The thing changed, or is not in the state this action starts from."""

    status = 409


class Withheld(FpcoError):
    """Hidden from this person until their labels are locked (design section 4)."""

    status = 403


class NotConfigured(FpcoError):
    """Something that the environment must provide is missing; names it and never shows it."""
