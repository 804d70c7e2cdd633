"""Asking a provider from a test that has no event loop."""

import asyncio
from collections.abc import Sequence
from typing import Any

from fpco_site.llm import dialogue, providers
from fpco_site.llm.types import Endpoint, Message, Picture, Reply, Request

NETWORK = ("openai", "openai_compatible", "gemini")
KEY_NAME = "FPCO_TEST_KEY"
CANARY = "sk-canary-5f3759df"
PHOTO = Picture(b"\xff\xd8\xff\xe0 not really a photograph \xfb\xff\xfe", "image/jpeg")


def endpoint(provider: str, base_url: str, **settings: Any) -> Endpoint:
    return Endpoint(
        **{"provider": provider, "model_id": "model-1", "base_url": base_url, "api_key_env": KEY_NAME, "timeout": 60.0}
        | settings
    )


def ask(where: Endpoint, *requests: Request) -> list[Reply]:
    """Ask all in order with one provider."""

    async def run() -> list[Reply]:
        provider = providers.make(where)
        try:
            return [await provider.ask(request) for request in requests]
        finally:
            await provider.close()

    return asyncio.run(run())


def talk(where: Endpoint, questions: Sequence[str], picture: Picture | None = None) -> list[str]:
    """Ask one turn after the other with the model's own answers, as a lane does; the answers."""

    async def run() -> list[str]:
        provider = providers.make(where)
        answers: list[str] = []
        try:
            for turn in range(1, len(questions) + 1):
                request = dialogue.request(
                    system="Answer.", questions=questions[:turn], answers=answers, picture=picture
                )
                answers.append((await provider.ask(request)).text or "")
        finally:
            await provider.close()
        return answers

    return asyncio.run(run())


def first_turn(text: str = "What is the black dog on the sofa doing?") -> Request:
    return Request(system="Answer.", messages=(Message("user", text),), picture=PHOTO)
