"""The engine: asks providers for many clients at once, and loses and doubles nothing (design section 4).

State is in the database; a message to a worker is only a hint that there is something to do.
A client implements `Work` (see `work.py`), registers it in its `AppConfig.ready` by dotted name, and
calls `hint_for()` when it has written rows that can be claimed.
"""

from fpco_site.llm.engine.advice import is_everybodys, is_refusal, pause_reason
from fpco_site.llm.engine.faults import Fault
from fpco_site.llm.engine.gate_rows import GateFacts
from fpco_site.llm.engine.gate_rows import facts as gate_facts
from fpco_site.llm.engine.hints import hint, hint_for
from fpco_site.llm.engine.work import Call, Claim, LeasedWork, Work, register, share, stored_picture

__all__ = [
    "Call",
    "Claim",
    "Fault",
    "GateFacts",
    "LeasedWork",
    "Work",
    "gate_facts",
    "hint",
    "hint_for",
    "is_everybodys",
    "is_refusal",
    "pause_reason",
    "register",
    "share",
    "stored_picture",
]
