"""What an evaluated model is sent for one turn. It never gets a class, a description as metadata, or a label."""

from collections.abc import Sequence

from fpco_site.llm.types import Message, Picture, Request


def request(*, system: str, questions: Sequence[str], answers: Sequence[str], picture: Picture | None) -> Request:
    """The request of turn t: questions 1..t and the model's own answers 1..t-1, in order.

    The picture goes with the first user turn only (`Request` says so). Raises ValueError where the
    history has a gap: an unanswered turn can't stand in it.
    """
    if len(questions) != len(answers) + 1:
        raise ValueError(f"Turn {len(questions)} needs {len(questions) - 1} earlier answers, not {len(answers)}.")
    if not all(answers):
        raise ValueError("An unanswered turn can't stand in the history.")
    messages = [Message("user", questions[0])]
    for answer, question in zip(answers, questions[1:], strict=True):
        messages += [Message("assistant", answer), Message("user", question)]
    return Request(system=system, messages=tuple(messages), picture=picture)
