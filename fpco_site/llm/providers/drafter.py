"""A drafting model without a network: it proposes well-formed drafts and checks variants by word lists."""

import asyncio
import json
from typing import Any, ClassVar

from fpco_site.llm import variant_checks
from fpco_site.llm.drafts import PREMISE
from fpco_site.llm.simulated import author, checker
from fpco_site.llm.simulated.reply import reply
from fpco_site.llm.simulated.testing import honest
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError, Reply, Request


class Drafter:
    """Options: `latency` in seconds. It doesn't look at the picture; its drafts are marked as simulated."""

    simulated: ClassVar[bool] = True

    def __init__(self, endpoint: Endpoint, key: str = "") -> None:
        self._model_id = endpoint.model_id
        self._latency = float(endpoint.options.get("latency", 0))

    async def ask(self, request: Request) -> Reply:
        if self._latency:
            await asyncio.sleep(self._latency)
        if (truth := honest(request)) is not None:
            return reply(model=self._model_id, text=truth, seconds=self._latency)
        try:
            body = json.loads(request.messages[-1].text)
            draft = self._made(request.schema_name, body)
        except author.NothingToChangeError as error:
            raise ProviderError(ErrorKind.PERMANENT, str(error), code="nothing_to_change") from None
        except (ValueError, KeyError, TypeError, IndexError):
            raise ProviderError(
                ErrorKind.PERMANENT, "The scripted drafter reads drafting requests only.", code="bad_request"
            ) from None
        text = json.dumps(draft, ensure_ascii=False)
        return reply(model=self._model_id, text=text, seconds=self._latency)

    async def close(self) -> None:
        """Nothing is open."""

    def _made(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        if kind == variant_checks.PROMPT:
            return checker.check(body, model_id=self._model_id)
        return _premise(body) if kind == PREMISE else _questions(body)


def _questions(body: dict[str, Any]) -> dict[str, Any]:
    metadata = body["metadata"]
    description = author.describe(metadata["target"], metadata["complexity"], metadata["category"])
    questions = author.questions(description, metadata["category"])
    return {
        "target_description": description,
        "questions": [{"id": number, "content": content} for number, content in questions.items()],
    }


def _premise(body: dict[str, Any]) -> dict[str, Any]:
    description = body["target_description"]
    taken = body.get("taken", {}).get("descriptions", ())
    modified = author.modified_description(description, body["premise_class"], body["metadata"]["category"], taken)
    contents = {row["id"]: row["content"] for row in body["questions"]}
    questions = author.modified_questions(contents, description, modified)
    return {
        "modified_target_description": modified,
        "questions": [{"id": number, "modified": question} for number, question in questions.items()],
    }
