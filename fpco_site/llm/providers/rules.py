"""A detector without a network: keyword, negation and description rules at two levels of strictness."""

import asyncio
import json
from typing import Any, ClassVar

from fpco_site.errors import Invalid
from fpco_site.llm.simulated.judge import Turn, description_of, detect
from fpco_site.llm.simulated.reply import reply
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError, Reply, Request

STRICTNESS = ("strict", "lenient")


class Rules:
    """Options: `strictness`, "strict" or "lenient"; `latency` in seconds."""

    simulated: ClassVar[bool] = True

    def __init__(self, endpoint: Endpoint, key: str = "") -> None:
        self._model_id = endpoint.model_id
        self._strictness = endpoint.options.get("strictness", "strict")
        self._latency = float(endpoint.options.get("latency", 0))
        if self._strictness not in STRICTNESS:
            raise Invalid(
                f"The rules detector knows no strictness {self._strictness!r}, only {' and '.join(STRICTNESS)}."
            )

    async def ask(self, request: Request) -> Reply:
        if self._latency:
            await asyncio.sleep(self._latency)
        text = json.dumps({"labels": self._labels(_items(request))})
        return reply(model=self._model_id, text=text, seconds=self._latency)

    async def close(self) -> None:
        """Nothing is open."""

    def _labels(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        description = description_of([item["content"] for item in items])
        return [
            {
                "id": item["id"],
                "detect": detect(
                    Turn(item["content"], item.get("modified"), item["response"]),
                    strict=self._strictness == "strict",
                    description=description,
                ),
            }
            for item in items
        ]


def _items(request: Request) -> list[dict[str, Any]]:
    try:
        items = json.loads(request.messages[-1].text)["items"]
        return [item for item in items if {"id", "content", "response"} <= item.keys()]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise ProviderError(
            ErrorKind.PERMANENT, "The rules detector reads detection requests only.", code="bad_request"
        ) from None
