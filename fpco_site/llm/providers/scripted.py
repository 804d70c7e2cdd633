"""An evaluated model without a network: it reads the conversation and answers by its habits."""

import asyncio
from typing import ClassVar

from fpco_site.errors import Invalid
from fpco_site.llm.simulated import chance, habits
from fpco_site.llm.simulated.conversation import speak
from fpco_site.llm.simulated.reply import reply
from fpco_site.llm.simulated.testing import honest
from fpco_site.llm.types import Endpoint, ErrorKind, Outcome, ProviderError, Reply, Request

FAULTS = ("blocked", "empty", "cut", "refused", "transient", "permanent")
REFUSAL = "I'm sorry, but I can't help with that."


class Scripted:
    """Options: those of a habit; `latency` in seconds; `faults`, the share of turns that end otherwise
    (`{"blocked": 0.02, "transient": 0.1}`); `turn_faults`, the same by turn (`{"5": "empty"}`).

    A `transient` fault fails the first time that this provider is asked a turn, and not again.
    """

    simulated: ClassVar[bool] = True

    def __init__(self, endpoint: Endpoint, key: str = "") -> None:
        self._model_id = endpoint.model_id
        self._habit = habits.from_options(endpoint.options)
        self._latency = float(endpoint.options.get("latency", 0))
        self._faults: dict[str, float] = dict(endpoint.options.get("faults", {}))
        self._turn_faults: dict[str, str] = {
            str(turn): fault for turn, fault in endpoint.options.get("turn_faults", {}).items()
        }
        self._failed_once: set[str] = set()
        if unknown := sorted({*self._faults, *self._turn_faults.values()} - {*FAULTS}):
            raise Invalid(f"A scripted model knows no fault {unknown[0]!r}; it knows {', '.join(FAULTS)}.")

    async def ask(self, request: Request) -> Reply:
        if self._latency:
            await asyncio.sleep(self._latency)
        if (truth := honest(request)) is not None:
            return self._reply("", truth)
        questions = [message.text for message in request.messages if message.role == "user"]
        answers = [message.text for message in request.messages if message.role == "assistant"]
        seed = (self._model_id, *questions, *answers)
        fault = self._fault(len(questions), seed)
        if fault in {"transient", "permanent"}:
            self._fail(fault, seed)
        text = speak(model_id=self._model_id, habit=self._habit, questions=questions, answers=answers)
        return self._reply(fault, text)

    async def close(self) -> None:
        """Nothing is open."""

    def _fault(self, turn: int, seed: tuple[str, ...]) -> str:
        if str(turn) in self._turn_faults:
            return self._turn_faults[str(turn)]
        drawn, reached = chance("fault", *seed), 0.0
        for fault, share in self._faults.items():
            reached += share
            if drawn < reached:
                return fault
        return ""

    def _fail(self, fault: str, seed: tuple[str, ...]) -> None:
        asked = "\x1f".join(seed)
        if fault == "transient" and asked in self._failed_once:
            return
        self._failed_once.add(asked)
        raise ProviderError(ErrorKind(fault), f"The scripted model was told to fail here ({fault}).", code="scripted")

    def _reply(self, fault: str, text: str) -> Reply:
        if fault == "blocked":
            return self._made(
                Outcome.BLOCKED, None, "content_filter", "The scripted model was told to block this turn."
            )
        if fault == "empty":
            return self._made(Outcome.EMPTY, None, "stop", "The scripted model was told to say nothing here.")
        if fault == "cut":
            kept = " ".join(text.split()[:4])
            return self._made(Outcome.CUT, kept, "length", "The answer was cut off at the token cap.")
        if fault == "refused":
            return self._made(Outcome.REFUSED, REFUSAL, "refusal", "The model refused.")
        return self._made(Outcome.ANSWERED, text, "stop", "")

    def _made(self, outcome: Outcome, text: str | None, finish: str, reason: str) -> Reply:
        return reply(
            model=self._model_id,
            text=text,
            seconds=self._latency,
            outcome=outcome,
            finish_reason=finish,
            reason=reason,
        )
