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
        self._http = openai.DefaultAioHttpClient(
            limits=_pool.LIMITS,
            timeout=endpoint.timeout,
            verify=_pool.tls(),
            # A redirect is not followed: it would take pictures and questions to an address that nobody entered.
            follow_redirects=False,
            event_hooks={"response": [_pool.bound]},
        )
        self._client = openai.AsyncOpenAI(
            api_key=key or NO_KEY, base_url=base_url, timeout=endpoint.timeout, max_retries=0, http_client=self._http
        )
        given = {**self._client.default_headers, **self._client.auth_headers}
        self._headers = {name: value for name, value in given.items() if isinstance(value, str)}

    async def post(self, path: str, body: dict[str, Any], picture: Picture | None) -> _wire.Answer:
        """Send one body. Raises ProviderError; no key and no cause is left in it.

        The SDK's own client sends it with the SDK's headers. Its `post` is passed by: what it does around that
        takes as long as the rest of a call.
        """
        content = _wire.spliced(body, picture)
        sent.note(content)
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(self._request(path, content))
        except (openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _wire.no_answer(provider=self._provider, error=error, timeout=self._timeout) from None
        if not response.is_success:
            raise self._refused(response)
        headers = _wire.kept_headers(response.headers, self._key)
        return _wire.Answer(
            raw=_wire.scrub_bytes(response.content, self._key),
            headers=headers,
            seconds=time.monotonic() - started,
            request_id=headers.get("x-request-id", ""),
        )

    async def close(self) -> None:
        await self._client.close()

    def _request(self, path: str, content: bytes) -> httpx2.Request:
        url = f"{str(self._client.base_url).rstrip('/')}{path}"
        return self._http.build_request("POST", url, headers=self._headers, content=content)

    def _refused(self, response: httpx2.Response) -> Exception:
        return _wire.refused_by_status(
            provider=self._provider,
            status=response.status_code,
            raw=response.content,
            headers=response.headers,
            key=self._key,
        )
