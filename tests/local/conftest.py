"""Tiny checkpoints, made once, and requests about small pictures."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import alone  # noqa: F401
import pytest
import tiny
from PIL import Image

from fpco_site.llm import providers
from fpco_site.llm.providers.transformers import Transformers
from fpco_site.llm.types import Endpoint, Message, Picture, Reply, Request

Ends = list[Reply | BaseException]


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a family's checkpoint."""
    folder = tmp_path_factory.mktemp("checkpoints")

    def checkpoint(family: str) -> Path:
        if not (folder / family).exists():
            tiny.FAMILIES[family](folder / family)
        return folder / family

    return checkpoint


@pytest.fixture(params=list(tiny.FAMILIES))
def checkpoint(request: pytest.FixtureRequest, checkpoints: Callable[[str], Path]) -> str:
    return str(checkpoints(request.param))


@pytest.fixture
def llava(checkpoints: Callable[[str], Path]) -> str:
    return str(checkpoints("llava_next"))


def picture(colour: str = "red", size: tuple[int, int] = (60, 40)) -> Picture:
    made = io.BytesIO()
    Image.new("RGB", size, colour).save(made, "PNG")
    return Picture(made.getvalue(), "image/png")


def request(*texts: str, about: Picture | None = None, system: str = "Be brief.") -> Request:
    """A conversation of these texts, the user's first."""
    roles = ("user", "assistant")
    return Request(system, tuple(Message(roles[n % 2], text) for n, text in enumerate(texts)), about)


def provider(model_id: str, cap: int = 8, **options: Any) -> Transformers:
    made = providers.make(Endpoint("transformers", model_id, max_output_tokens=cap, options=options))
    assert isinstance(made, Transformers)
    return made


def ask(asked: Transformers, *requests: Request) -> Ends:
    """Ask all at once, and close."""

    async def together() -> Ends:
        try:
            return list(await asyncio.gather(*(asked.ask(one) for one in requests), return_exceptions=True))
        finally:
            await asked.close()

    return asyncio.run(together())
