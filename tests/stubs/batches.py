"""Batch jobs as OpenAI and Gemini offer them, strict about what comes in, and misbehaving on command."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from fpco_site.llm.types import Outcome
from tests.stubs import voice
from tests.stubs.protocols import PROTOCOLS, Asked, BadRequest, Spoken

GEMINI_STATES = {
    "in_progress": "BATCH_STATE_RUNNING",
    "completed": "BATCH_STATE_SUCCEEDED",
    "failed": "BATCH_STATE_FAILED",
    "expired": "BATCH_STATE_EXPIRED",
    "cancelled": "BATCH_STATE_CANCELLED",
}


@dataclass
class Made:
    """One batch: `key` is the client's, `lines` are (id, status, body) of what came of each request."""

    id: str
    protocol: str
    key: str
    file: str
    order: int
    status: str = "in_progress"
    cancels: int = 0
    error: str = ""
    lines: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)


class BatchDesk:
    """What the stub does with batches. Everything may be set by a test before or while it is asked."""

    def __init__(self) -> None:
        self.working = False  # batches stay unfinished while this is so
        self.ends_as = "completed"
        self.only: int | None = None  # so many requests are answered; the rest never is
        self.backwards = self.twice = self.unknown = False
        self.spoil: dict[int, str] = {}  # by position in the file: a misbehaviour's name, or a status
        self.refuse: dict[str, int] = {}  # "upload", "create", "get", "results": the status of the next one
        self.lose_answer = False  # the next create succeeds, and nobody is told
        self.hang = False  # creates succeed, and nobody is told for as long as this is so
        self.missing = ""  # the kind of result file, output or errors, that is there no more
        self.strips = False  # metadata is not given back
        self.pads = ""  # stands in each line that comes back, beside the reply
        self.invalid = ""  # the reason for which the next batch fails its validation
        self.made: list[Made] = []
        self.files: dict[str, bytes] = {}
        self.calls: list[str] = []

    def routes(self, app: web.Application) -> None:
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{file}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._get)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)
        app.router.add_post("/upload/v1beta/files", self._gemini_begin)
        app.router.add_post("/upload/session", self._gemini_upload)
        app.router.add_get("/v1beta/batches", self._gemini_list)
        app.router.add_get("/v1beta/batches/{id}", self._gemini_get)
        app.router.add_post("/v1beta/batches/{id}:cancel", self._gemini_cancel)
        app.router.add_get("/v1beta/files/{file}:download", self._gemini_content)

    # OpenAI

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        if refused := self._called("upload"):
            return refused
        assert form["purpose"] == "batch"
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        name = self._keep(upload.file.read())
        told = {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f", "purpose": "batch"}
        return web.json_response({**told, "status": "processed"})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if refused := self._called("create"):
            return refused
        assert (body["endpoint"], body["completion_window"]) == ("/v1/responses", "24h")
        made = await self._make("openai", body["metadata"]["fpco_batch"], body["input_file_id"], "")
        return await self._told(request, self._openai(made))

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self._called("list")
        rows = [self._openai(made) for made in reversed(self.made)]
        after = request.query.get("after")
        start = next((i + 1 for i, row in enumerate(rows) if row["id"] == after), 0)
        page = rows[start : start + 2]  # small pages, so that a client has to turn them
        last = page[-1]["id"] if page else None
        more = start + 2 < len(rows)
        return web.json_response({"object": "list", "data": page, "has_more": more, "last_id": last})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        if refused := self._called("get"):
            return refused
        return web.json_response(self._openai(self._look(request.match_info["id"])))

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        made = self._stop(request.match_info["id"])
        if made is None:
            return _refusal(409, "It is over already.")
        return web.json_response(self._openai(made))

    async def _content(self, request: web.Request) -> web.StreamResponse:
        if refused := self._called("results"):
            return refused
        kind, _, id = request.match_info["file"].partition("-")
        if kind == self.missing:
            return _refusal(404, "No such File object.")
        made = self._find(id)
        rows = [self._openai_line(line) for line in made.lines if (line[1] == 200) == (kind == "output")]
        if kind == "errors" and made.status in ("expired", "cancelled"):
            rows += [self._openai_line((id, -1, {})) for id in self._unanswered(made)]
        return self._rows(rows)

    def _openai(self, made: Made) -> dict[str, Any]:
        over = made.status in ("completed", "expired", "cancelled")
        good = [line for line in made.lines if line[1] == 200]
        bad = len(made.lines) - len(good) or (made.status in ("expired", "cancelled"))
        errors = {"object": "list", "data": [{"code": "invalid", "message": made.error, "line": 1}]}
        return {
            "id": made.id,
            "object": "batch",
            "endpoint": "/v1/responses",
            "completion_window": "24h",
            "created_at": made.order,
            "input_file_id": made.file,
            "status": made.status,
            "metadata": None if self.strips else {"fpco_batch": made.key},
            "errors": errors if made.error else None,
            "output_file_id": f"output-{made.id}" if over and good else None,
            "error_file_id": f"errors-{made.id}" if over and bad else None,
            "request_counts": {
                "total": self.files[made.file].count(b"\n"),
                "completed": len(good) if over else 0,
                "failed": len(made.lines) - len(good) if over else 0,
            },
        }

    def _openai_line(self, line: tuple[str, int, dict[str, Any]]) -> dict[str, Any]:
        id, status, body = line
        if status == -1:
            late = {"code": "batch_expired", "message": "This request could not be executed in time."}
            return {"id": "r", "custom_id": id, "response": None, "error": late}
        response = {"status_code": status, "request_id": f"req_{id}", "body": body}
        return {"id": self.pads, "custom_id": id, "response": response, "error": None}

    # Gemini

    async def _gemini_begin(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        if refused := self._called("upload"):
            return refused
        assert request.headers["x-goog-upload-protocol"] == "resumable"
        return web.json_response({}, headers={"x-goog-upload-url": str(request.url.with_path("/upload/session"))})

    async def _gemini_upload(self, request: web.Request) -> web.StreamResponse:
        name = self._keep(await request.read())
        return web.json_response({"file": {"name": f"files/{name}"}}, headers={"x-goog-upload-status": "final"})

    async def gemini_create(self, request: web.Request, model: str) -> web.StreamResponse:
        batch = (await request.json())["batch"]
        if refused := self._called("create"):
            return refused
        file = batch["inputConfig"]["fileName"].removeprefix("files/")
        return await self._told(request, self._gemini(await self._make("gemini", batch["displayName"], file, model)))

    async def _gemini_list(self, request: web.Request) -> web.StreamResponse:
        self._called("list")
        start = int(request.query.get("pageToken") or 0)
        answer: dict[str, Any] = {"operations": [self._gemini(made) for made in self.made[start : start + 2]]}
        if start + 2 < len(self.made):
            answer["nextPageToken"] = str(start + 2)
        return web.json_response(answer)

    async def _gemini_get(self, request: web.Request) -> web.StreamResponse:
        if refused := self._called("get"):
            return refused
        return web.json_response(self._gemini(self._look(request.match_info["id"])))

    async def _gemini_cancel(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({}) if self._stop(request.match_info["id"]) else _refusal(400, "It is over already.")

    async def _gemini_content(self, request: web.Request) -> web.StreamResponse:
        if refused := self._called("results"):
            return refused
        made = self._find(request.match_info["file"].removeprefix("results-"))
        return self._rows([self._gemini_line(line) for line in made.lines])

    def _gemini(self, made: Made) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            "displayName": made.key,
            "state": GEMINI_STATES[made.status],
            "createTime": f"2026-11-30T00:00:{made.order % 60:02}Z",
            "model": "models/stub",
        }
        if made.lines and made.status in ("completed", "expired", "cancelled"):
            metadata["output"] = {"responsesFile": f"files/results-{made.id}"}
        error = {"error": {"code": 3, "message": made.error}} if made.error else {}
        return {"name": f"batches/{made.id}", "metadata": metadata, **error}

    def _gemini_line(self, line: tuple[str, int, dict[str, Any]]) -> dict[str, Any]:
        id, status, body = line
        return {"key": id, "response": body} if status == 200 else {"key": id, "error": body["error"]}

    # Both

    def _called(self, what: str) -> web.Response | None:
        self.calls.append(what)
        status = self.refuse.pop(what, None)
        return None if status is None else _refusal(status, f"The stub refuses to {what}.")

    def _keep(self, data: bytes) -> str:
        name = f"file{len(self.files) + 1}"
        self.files[name] = data
        return name

    async def _make(self, protocol: str, key: str, file: str, model: str) -> Made:
        made = Made(f"b{len(self.made) + 1}", protocol, key, file, len(self.made) + 1)
        if self.invalid:
            made.status, made.error, self.invalid = "failed", self.invalid, ""
        else:
            await self._answer(made, model)
        self.made.append(made)
        return made

    async def _answer(self, made: Made, model: str) -> None:
        dialect = PROTOCOLS[made.protocol]
        rows = [json.loads(line) for line in self.files[made.file].splitlines()]
        for number, row in enumerate(rows[: self.only]):
            id, body = (row["custom_id"], row["body"]) if made.protocol == "openai" else (row["key"], row["request"])
            try:
                asked = dialect.read(body, model)
            except (BadRequest, KeyError) as error:
                made.lines.append((id, 400, dialect.error(400, "invalid_request_error", str(error))))
                continue
            made.lines.append((id, *await self._spoken(dialect, asked, number)))
        if self.unknown:
            made.lines.append(("987654321", *made.lines[0][1:]))
        if self.twice:
            made.lines += made.lines[:2]
        if self.backwards:
            made.lines.reverse()

    async def _spoken(self, dialect: Any, asked: Asked, number: int) -> tuple[int, dict[str, Any]]:
        how = self.spoil.get(number, "")
        if how.isdigit():
            return int(how), dialect.error(int(how), "server_error", "This request failed.")
        text = await voice.says(asked.request, plain=False)
        if how == "truncated":
            answer = dialect.write(asked, Spoken(text[:20], Outcome.CUT), number)
        else:
            answer = dialect.write(asked, Spoken(voice.spoilt(text, how) if how else text), number)
        status, body = answer
        return status, body

    async def _told(self, request: web.Request, answer: dict[str, Any]) -> web.StreamResponse:
        while self.hang:
            await asyncio.sleep(0.05)
        if self.lose_answer and request.transport is not None:
            self.lose_answer = False
            request.transport.abort()
        return web.json_response(answer)

    def _find(self, id: str) -> Made:
        found = next((made for made in self.made if made.id == id), None)
        if found is None:
            raise web.HTTPNotFound(text=json.dumps({"error": {"message": "No such batch.", "code": 404}}))
        return found

    def _look(self, id: str) -> Made:
        """A batch as it stands; one that needn't go on working has ended."""
        made = self._find(id)
        if made.status == "in_progress" and not self.working:
            made.status = self.ends_as
        return made

    def _stop(self, id: str) -> Made | None:
        self._called("cancel")
        made = self._find(id)
        made.cancels += 1
        if made.status != "in_progress":
            return None
        made.status = "cancelled"
        return made

    def _unanswered(self, made: Made) -> list[str]:
        came = {line[0] for line in made.lines}
        asked = [json.loads(line)["custom_id"] for line in self.files[made.file].splitlines()]
        return [id for id in asked if id not in came]

    def _rows(self, rows: list[dict[str, Any]]) -> web.Response:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return web.Response(body=text.encode(), content_type="application/jsonl")


def _refusal(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"code": status, "message": message, "type": "error"}}, status=status)
