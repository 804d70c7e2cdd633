"""Gemini's batch jobs from a file of at most 2 GB, uploaded with the Files API (which forgets it after 48 hours).

The job's display name carries our key. Results come in one file, in any order, by each line's `key`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types

from fpco_site.llm import settings_rules
from fpco_site.llm.batches import _lines
from fpco_site.llm.batches.types import Limits, Remote, Result
from fpco_site.llm.providers import _pool, _wire
from fpco_site.llm.providers import gemini as live
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError, Request

VERSION = "v1beta"  # the one that batch jobs are documented for
NAME = "fpco-{}"  # a job's display name
# Without PARTIALLY_SUCCEEDED, the SDK's own list would wait for ever.
OVER = frozenset({"SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED"})
TRANSFER = 600_000  # milliseconds for a file
# A line's error may carry gRPC's number where HTTP has another.
STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}
NOT_ASKED = frozenset({1, 499})  # cancelled


class GeminiBatches:
    limits = Limits(requests=50_000, size=2_000_000_000)

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        self._key = key
        self._http = httpx2.Client(verify=_pool.tls(), timeout=endpoint.timeout)
        self._client = genai.Client(
            vertexai=False,
            api_key=key,
            http_options=types.HttpOptions(
                base_url=_wire.address(endpoint, live.BASE_URL),
                api_version=VERSION,
                timeout=int(endpoint.timeout * 1000),
                httpx_client=self._http,
            ),
        )

    def line(self, id: str, request: Request) -> bytes:
        return _lines.packed({"key": id, "request": self._request(request)})

    def upload(self, file: Path) -> str:
        config = types.UploadFileConfig(
            display_name=file.name, mime_type="jsonl", http_options=types.HttpOptions(timeout=TRANSFER)
        )
        with self._errors():
            return self._client.files.upload(file=file, config=config).name or ""

    def create(self, file: str, key: str) -> Remote:
        config = types.CreateBatchJobConfig(display_name=NAME.format(key))
        with self._errors():
            return self._remote(self._client.batches.create(model=self._endpoint.model_id, src=file, config=config))

    def find(self, key: str, file: str) -> list[Remote]:
        """By the name alone: a listed job doesn't tell its file."""
        config = types.ListBatchJobsConfig(page_size=100)
        with self._errors():
            named = [job for job in self._client.batches.list(config=config) if job.display_name == NAME.format(key)]
        never = datetime.max.replace(tzinfo=UTC)
        return [self._remote(job) for job in sorted(named, key=lambda job: job.create_time or never)]

    def get(self, id: str) -> Remote:
        with self._errors():
            return self._remote(self._client.batches.get(name=id))

    def cancel(self, id: str) -> None:
        try:
            with self._errors():
                self._client.batches.cancel(name=id)
        except ProviderError as error:
            if error.status not in (400, 409):  # over, or being cancelled already
                raise

    def results(self, files: Sequence[str], folder: Path) -> Iterator[Result]:
        config = types.DownloadFileConfig(http_options=types.HttpOptions(timeout=TRANSFER))
        paths = [folder / f"{number}.jsonl" for number, _ in enumerate(files)]
        for path, file in zip(paths, files, strict=True):
            with self._errors():
                self._client.files.download(file=file, destination=path, config=config)
        for path in paths:
            for raw, line in _lines.read(path, self._key):
                if result := self._result(raw, line):
                    yield result

    def close(self) -> None:
        self._client.close()
        self._http.close()

    def _request(self, request: Request) -> dict[str, Any]:
        """The body that a live call would have, but for the model, which the job names once."""
        budget, sampling = settings_rules.thinking_budget(self._endpoint), settings_rules.sampling(self._endpoint)
        extra = settings_rules.extra(self._endpoint)
        wanted = {
            "maxOutputTokens": settings_rules.cap(self._endpoint),
            "responseMimeType": "application/json" if request.schema is not None else None,
            "responseJsonSchema": request.schema if self._endpoint.options.get("send_schema") else None,
            "thinkingConfig": None if budget is None else {"thinkingBudget": budget},
            "temperature": sampling.get("temperature"),
            "topP": sampling.get("top_p"),
        }
        config = {name: value for name, value in wanted.items() if value is not None}
        return {
            **extra,
            "contents": live.contents(request),
            "systemInstruction": {"parts": [{"text": request.system}]},
            "generationConfig": {**config, **_wire.table(extra.get("generationConfig"))},
        }

    def _remote(self, job: types.BatchJob) -> Remote:
        status = job.state.name.removeprefix("JOB_STATE_").removeprefix("BATCH_STATE_") if job.state else "UNSPECIFIED"
        file = job.dest.file_name if job.dest else None
        why = self._why(job.name or "") if status == "FAILED" else ""
        return Remote(
            id=job.name or "", status=status.lower(), over=status in OVER, files=(file,) if file else (), error=why
        )

    def _why(self, name: str) -> str:
        """The reason of a job that failed, which the SDK leaves out of what it reads."""
        base = _wire.address(self._endpoint, live.BASE_URL).rstrip("/")
        try:
            body = self._http.get(f"{base}/{VERSION}/{name}", headers={"x-goog-api-key": self._key}).json()
        except (httpx2.HTTPError, ValueError):
            return ""
        said = _wire.string(_wire.table(_wire.table(body).get("error")).get("message"))
        return _wire.scrub(said, self._key)[: _wire.MESSAGE_LENGTH]

    def _result(self, raw: bytes, line: dict[str, Any]) -> Result | None:
        id, error = _wire.string(line.get("key")), _wire.table(line.get("error"))
        answer = _wire.Answer(raw=raw, headers={}, seconds=0.0)
        if error.get("code") in NOT_ASKED:
            return None
        try:
            if not error:
                return Result(id, reply=live.judged(_wire.table(line.get("response")), answer))
            raise self._failed(error, answer)
        except ProviderError as failed:
            return Result(id, error=failed)

    def _failed(self, said: dict[str, Any], answer: _wire.Answer) -> ProviderError:
        code = said.get("code")
        status = STATUSES.get(code, code) if isinstance(code, int) else None
        if status is None or not 400 <= status < 600:
            message = _wire.string(said.get("message")) or "no reason"
            text = _wire.scrub(f"gemini gave no answer in the batch: {message}", self._key)
            return ProviderError(ErrorKind.TRANSIENT, text[: _wire.MESSAGE_LENGTH], raw=answer.raw)
        return _lines.refused(provider="gemini", status=status, said=said, answer=answer, key=self._key)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except errors.APIError as error:
            raw, headers = b"", {}
            if isinstance(error.response, httpx2.Response):
                raw, headers = error.response.content, dict(error.response.headers)
            raise _wire.refused_by_status(
                provider="gemini", status=error.code, raw=raw, headers=headers, key=self._key
            ) from None
        # An upload that broke off comes as a ValueError or a KeyError.
        except (httpx2.HTTPError, TimeoutError, OSError, ValueError, KeyError) as error:
            raise _wire.no_answer(provider="gemini", error=error, timeout=self._endpoint.timeout) from None
