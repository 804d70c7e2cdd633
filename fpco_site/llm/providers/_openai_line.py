"""One connection pool to one OpenAI-like address, shared by the Responses and the Chat Completions provider."""

import asyncio
import time
from typing import Any

import aiohttp
import httpx2
import openai

from fpco_site.llm import sent
from fpco_site.llm.providers import _pool, _wire
from fpco_site.llm.types import Endpoint, Picture

# A local server wants no key, but the SDK insists on one.
NO_KEY = "none"


class Line:
    """Posts bodies that are ready to send, once: this project has one retry loop, and it isn't here."""

    def __init__(self, endpoint: Endpoint, key: str, base_url: str) -> None:
        self._provider = endpoint.provider
        self._timeout = endpoint.timeout
        self._key = key
        self._client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=base_url,
            timeout=endpoint.timeout,
            max_retries=0,
            # A redirect is not followed: it would take pictures and questions to an address that nobody entered.
            http_client=openai.DefaultAioHttpClient(
                limits=_pool.LIMITS,
                timeout=endpoint.timeout,
                verify=_pool.tls(),
                follow_redirects=False,
                event_hooks={"response": [_pool.bound]},
            ),
        )

    async def post(self, path: str, body: dict[str, Any], picture: Picture | None) -> _wire.Answer:
        """Send one body. Raises ProviderError; no key and no cause is left in it."""
        content = _wire.spliced(body, picture)
        sent.note(content)
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(path, cast_to=httpx2.Response, content=content)
        except openai.APIStatusError as error:
            raise self._refused(error) from None
        except (openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _wire.no_answer(provider=self._provider, error=error, timeout=self._timeout) from None
        headers = _wire.kept_headers(response.headers, self._key)
        return _wire.Answer(
            raw=_wire.scrub_bytes(response.content, self._key),
            headers=headers,
            seconds=time.monotonic() - started,
            request_id=headers.get("x-request-id", ""),
        )

    async def close(self) -> None:
        await self._client.close()

    def _refused(self, error: openai.APIStatusError) -> Exception:
        return _wire.refused_by_status(
            provider=self._provider,
            status=error.status_code,
            raw=error.response.content,
            headers=error.response.headers,
            key=self._key,
        )
