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


class Conflict(FpcoError):
    """The thing changed, or is not in the state this action starts from."""

    status = 409


class Withheld(FpcoError):
    """Hidden from this person until their labels are locked (design section 4)."""

    status = 403


class NotConfigured(FpcoError):
    """Something that the environment must provide is missing; names it and never shows it."""
