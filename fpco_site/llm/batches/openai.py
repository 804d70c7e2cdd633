"""OpenAI's Batch API over the Responses interface.

A file of at most 50,000 requests and 200 MB is uploaded with the purpose `batch` (such files expire by
themselves after 30 days). Answers and errors come in two files, in any order, by `custom_id`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
from openai.types import Batch

from fpco_site.llm.batches import _lines
from fpco_site.llm.batches.types import Limits, Remote, Result
from fpco_site.llm.providers import _pool, _verdict, _wire
from fpco_site.llm.providers import openai as live
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError, Request

KEY = "fpco_batch"  # the name of our key in a batch's metadata
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
NOT_ASKED = frozenset({"batch_expired", "batch_cancelled"})
TRANSFER = 600.0  # seconds for a file


class OpenAIBatches:
    limits = Limits(requests=50_000, size=200_000_000)

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        self._key = key
        self._client = openai.OpenAI(
            api_key=key,
            base_url=_wire.address(endpoint, live.BASE_URL),
            timeout=endpoint.timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(verify=_pool.tls(), timeout=endpoint.timeout),
        )

    def line(self, id: str, request: Request) -> bytes:
        body = live.body(self._endpoint, request)
        return _lines.packed({"custom_id": id, "method": "POST", "url": "/v1/responses", "body": body})

    def upload(self, file: Path) -> str:
        with self._errors():
            return self._client.files.create(file=file, purpose="batch", timeout=TRANSFER).id

    def create(self, file: str, key: str) -> Remote:
        with self._errors():
            batch = self._client.batches.create(
                completion_window="24h", endpoint="/v1/responses", input_file_id=file, metadata={KEY: key}
            )
            return self._remote(batch)

    def find(self, key: str, file: str) -> list[Remote]:
        """Metadata may be lost on the way through a gateway; the file's id is the provider's own."""
        with self._errors():
            listed = self._client.batches.list(limit=100)
            found = [row for row in listed if (row.metadata or {}).get(KEY) == key or row.input_file_id == file]
        return [self._remote(batch) for batch in sorted(found, key=lambda batch: batch.created_at)]

    def get(self, id: str) -> Remote:
        with self._errors():
            return self._remote(self._client.batches.retrieve(id))

    def cancel(self, id: str) -> None:
        try:
            with self._errors():
                self._client.batches.cancel(id)
        except ProviderError as error:
            if error.status not in (400, 409):  # over, or being cancelled already
                raise

    def results(self, files: Sequence[str], folder: Path) -> Iterator[Result]:
        paths = [folder / f"{number}.jsonl" for number, _ in enumerate(files)]
        for path, file in zip(paths, files, strict=True):
            with self._errors(), self._client.files.with_streaming_response.content(file, timeout=TRANSFER) as answer:
                answer.stream_to_file(path)
        for path in paths:
            for raw, line in _lines.read(path, self._key):
                if result := self._result(raw, line):
                    yield result

    def close(self) -> None:
        self._client.close()

    def _remote(self, batch: Batch) -> Remote:
        counts = batch.request_counts
        said = [error.message or error.code or "" for error in (batch.errors and batch.errors.data) or []]
        return Remote(
            id=batch.id,
            status=batch.status,
            over=batch.status in OVER,
            files=tuple(file for file in (batch.output_file_id, batch.error_file_id) if file),
            done=counts.completed + counts.failed if counts else None,
            error=_wire.scrub(" ".join(filter(None, said)), self._key)[: _wire.MESSAGE_LENGTH],
        )

    def _result(self, raw: bytes, line: dict[str, Any]) -> Result | None:
        id, error = _wire.string(line.get("custom_id")), _wire.table(line.get("error"))
        if error.get("code") in NOT_ASKED:
            return None
        response = _wire.table(line.get("response"))
        body, status = _wire.table(response.get("body")), response.get("status_code")
        answer = _wire.Answer(raw=raw, headers={}, seconds=0.0, request_id=_wire.string(response.get("request_id")))
        try:
            if status == 200:
                return Result(id, reply=live.judged(body, answer))
            raise self._failed(status, body or error, answer)
        except ProviderError as failed:
            blocked = _verdict.blocked_by_error(failed, 0.0)
            return Result(id, reply=blocked) if blocked else Result(id, error=failed)

    def _failed(self, status: Any, said: dict[str, Any], answer: _wire.Answer) -> ProviderError:
        """The error of one line: with the status that a live call would have had, or with none."""
        if isinstance(status, int):
            return _lines.refused(provider="openai", status=status, said=said, answer=answer, key=self._key)
        code, message = _wire.string(said.get("code")), _wire.string(said.get("message"))
        text = f"openai gave no answer in the batch: {message or code or 'no reason'}"
        return ProviderError(
            ErrorKind.TRANSIENT, _wire.scrub(text, self._key)[: _wire.MESSAGE_LENGTH], code=code, raw=answer.raw
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except openai.APIStatusError as error:
            raise _wire.refused_by_status(
                provider="openai",
                status=error.status_code,
                raw=error.response.content,
                headers=error.response.headers,
                key=self._key,
            ) from None
        except (openai.APIError, httpx2.HTTPError, TimeoutError, OSError) as error:
            raise _wire.no_answer(provider="openai", error=error, timeout=self._endpoint.timeout) from None
