"""What a simulated model says to a connection test: the truth."""

import re

from fpco_site.llm.connection.steps import OPENING, RECALL
from fpco_site.llm.types import Request

SEES_NOTHING = "I am simulated: I read the text alone and see no picture."


def honest(request: Request) -> str | None:
    """The answer to a connection test; None where the request is none."""
    first, *_, last = [message.text for message in (request.messages[0], *request.messages)]
    if not first.startswith(OPENING):
        return None
    called = re.search("“(.+?)”", first)
    return called.group(1) if last == RECALL and called else SEES_NOTHING
