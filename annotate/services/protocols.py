"""The study's protocol, made on first use."""

from annotate.models import Protocol
from annotate.models.protocols import STUDY


def study() -> Protocol:
    """The published study's plan, which is the default."""
    defaults = {name: STUDY[name] for name in ("turns", "false_turns", "per_cell")}
    protocol, _ = Protocol.objects.get_or_create(name=STUDY["name"], defaults=defaults)
    return protocol
