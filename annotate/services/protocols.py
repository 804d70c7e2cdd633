"""The plans that items follow, made on first use."""

from typing import Any

from annotate.models import Item, Protocol
from annotate.models.protocols import LEXICAL, STUDY


def study() -> Protocol:
    """The published study's plan, which is the default."""
    return _made(STUDY)


def lexical() -> Protocol:
    """The plan of the lexical-sensitivity study: turns 1 to 4, the fourth of them false."""
    return _made(LEXICAL)


def of(item: Item) -> Protocol:
    """The plan that this item follows: a variant has four turns, any other item the study's."""
    return study() if item.parent_id is None else lexical()


def _made(plan: dict[str, Any]) -> Protocol:
    defaults = {name: plan[name] for name in ("turns", "false_turns", "per_cell")}
    protocol, _ = Protocol.objects.get_or_create(name=plan["name"], defaults=defaults)
    return protocol
