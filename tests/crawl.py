"""Visits every address of the site: each route with every id there is, and whatever the replies link to.

Routes are read from the resolver, so an address that is added later is crawled without being named here.
"""

import re
import zipfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from itertools import islice, product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes, urldefrag, urljoin, urlsplit

from django import forms
from django.apps import apps
from django.conf import settings
from django.db import models
from django.http import HttpResponseBase
from django.test import Client
from django.test.client import FakePayload
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve
from django.urls.resolvers import RoutePattern
from rest_framework import serializers

from benchmark.figures import REGISTER
from benchmark.models.connections import SUBJECTS

HOST = "http://testserver"
LIMIT = 20_000
CHUNKS = 200
PRESSED = 2  # addresses of each route that get a POST
PROBED = 2  # addresses of each route that get every query, for its code reads the same of all
NOT_THERE = (404, 405)
SAMPLES = 6  # links to one address that ask for the same, such as pages or cells
SKIPPED = ("/static/",)
LINKS = ("href", "src", "hx-get", "data-href", "data-src", "data-url")
_ROUTE_PART = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
_REGEX_PART = re.compile(r"\(\?P<(?P<name>\w+)>(?:[^()]|\([^()]*\))*\)")
_JSON_LINK = re.compile(r'"((?:http://testserver)?/[^"\s]*)"')


@dataclass(frozen=True)
class Reply:
    """What came back from one address."""

    method: str
    url: str
    status: int
    headers: str
    body: str

    @property
    def everything(self) -> str:
        return f"{self.headers}\n{self.body}"


@dataclass
class Crawl:
    """One person's visit of the whole site, or of what lies within some of its paths."""

    client: Client
    words: Iterable[str] = ()
    within: tuple[str, ...] = ("/",)
    skip_names: Iterable[str] = ("sign_out",)
    replies: list[Reply] = field(default_factory=list)
    _only_posted: set[str] = field(default_factory=set)  # routes that answer no GET, whatever the id
    _probed: Counter[str] = field(default_factory=Counter)

    def run(self, *, probes: Iterable[str] = ()) -> list[Reply]:
        """GET every route with every id, then every link; `probes` are queries that two pages of each route get."""
        skipped = set(addresses(self.words, only=self.skip_names))
        queue = deque(sorted(url for url in set(addresses(self.words)) - skipped if url.startswith(self.within)))
        seen, samples = set(queue) | skipped, Counter[tuple[str, frozenset[str]]]()
        while queue:
            for found in self._visit(queue.popleft(), probes):
                kind = _kind_of(found)
                if found not in seen and found.startswith(self.within) and samples[kind] < SAMPLES:
                    seen.add(found)
                    queue.append(found)
                    samples[kind] += bool(kind[1])
            assert len(self.replies) < LIMIT, "The crawl does not end: something links to ever new addresses."
        return self.replies

    def press(self) -> list[Reply]:
        """POST to some addresses of every route that was visited, and OPTIONS to those of the API.

        Returns these replies alone.
        """
        before, tried = len(self.replies), Counter[str]()
        for url in dict.fromkeys(reply.url for reply in self.replies if "?" not in reply.url):
            route = _route_of(url)
            tried[route] += 1
            if tried[route] <= PRESSED:
                self._ask("POST", url)
                if url.startswith("/api/"):
                    self._ask("OPTIONS", url)
        return self.replies[before:]

    def again(self) -> list[Reply]:
        """Every GET once more, but for addresses that were not there; returns these replies alone."""
        asked = [reply.url for reply in self.replies if reply.method == "GET" and reply.status not in NOT_THERE]
        before = len(self.replies)
        for url in asked:
            self._ask("GET", url)
        return self.replies[before:]

    def _visit(self, url: str, probes: Iterable[str]) -> Iterator[str]:
        route = _route_of(url)
        if route in self._only_posted:
            return
        reply = self._ask("GET", url)
        if reply.status == 405:
            self._only_posted.add(route)
        yield from links(reply)
        if reply.status == 200 and "?" not in url and self._probed[route] < PROBED:
            self._probed[route] += 1
            for probe in probes:
                self._ask("GET", f"{url}?{probe}")

    def _ask(self, method: str, url: str) -> Reply:
        raw = answer(self.client, method, url)
        reply = Reply(method, url, raw.status_code, _headers(raw), _body(raw))
        self.replies.append(reply)
        return reply


def _kind_of(url: str) -> tuple[str, frozenset[str]]:
    """The address and the names of what is asked of it: links that ask for the same differ in values alone."""
    path, _, query = url.partition("?")
    return path, frozenset(name for name, _ in parse_qsl(query, keep_blank_values=True))


def _route_of(url: str) -> str:
    try:
        return str(resolve(url.partition("?")[0]).route)
    except Resolver404:
        return ""


def answer(client: Client, method: str, url: str) -> HttpResponseBase:
    """What the site answers this client. Past the client's own `request`, which copies every template's context."""
    parts = urlsplit(url)
    path = unquote_to_bytes(parts.path).decode("iso-8859-1")
    asked = {"PATH_INFO": path, "QUERY_STRING": parts.query, "REQUEST_METHOD": method, "CONTENT_LENGTH": "0"}
    return client.handler(client._base_environ(**asked, **{"wsgi.input": FakePayload(b"")}))


def _headers(raw: HttpResponseBase) -> str:
    own = [f"{name}: {value}" for name, value in raw.items()]
    return "\n".join([*own, *(f"Set-Cookie: {cookie.value}" for cookie in raw.cookies.values())])


def _body(raw: Any) -> str:
    """The text of a reply: of a PDF what can be read in it, of an archive its names and all that it holds."""
    if not raw.streaming:
        return text_of(bytes(raw.content))
    whole = None if "zip" in raw.get("Content-Type", "") else CHUNKS
    return text_of(b"".join(islice(raw.streaming_content, whole)))


def text_of(data: bytes) -> str:
    """Bytes as text, whatever they are packed in."""
    if data.startswith(b"%PDF"):
        from pypdf import PdfReader

        found = PdfReader(BytesIO(data))
        return "\n".join([str(found.metadata), *(page.extract_text() for page in found.pages)])
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return "\n".join(f"{name}\n{text_of(archive.read(name))}" for name in archive.namelist())
    return data.decode("utf-8", "replace")


# Addresses ------------------------------------------------------------------------------------------


def addresses(words: Iterable[str] = (), *, only: Iterable[str] | None = None) -> list[str]:
    """Every route of the site with every value that its parts may take."""
    numbers, uuids = ids()
    names = [*words, *keys()]
    values = {"int": [*numbers, "1"], "uuid": uuids, "str": [*names, *numbers], "slug": names, "path": names}
    values |= {"sha256": keys("sha256"), "subject": list(SUBJECTS)}
    # Links lead to the other figures, and to files of other forms.
    values |= {"figure": list(REGISTER)[:1], "figure_form": ["csv", "json", "svg"], "form": ["csv"]}
    return [
        url
        for name, route, parts in routes(get_resolver())
        if only is None or name in set(only)
        for url in _filled(route, parts, values)
    ]


def routes(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each route as (name, template with {part}, kind of each part)."""
    for entry in resolver.url_patterns:
        template, parts = _template(entry)
        if isinstance(entry, URLPattern):
            yield entry.name or "", f"/{before}{template}", parts
            continue
        for name, route, inner in routes(entry, f"{before}{template}"):
            yield name, route, {**parts, **inner}


def _template(entry: URLPattern | URLResolver) -> tuple[str, dict[str, str]]:
    pattern = entry.pattern
    if isinstance(pattern, RoutePattern):
        kinds = {found["name"]: found["converter"] or "str" for found in _ROUTE_PART.finditer(str(pattern))}
        return _ROUTE_PART.sub(lambda found: f"{{{found['name']}}}", str(pattern)), kinds
    written = str(pattern).removeprefix("^").removesuffix("$").removesuffix(r"\Z").replace("\\", "")
    kinds = {found["name"]: "str" for found in _REGEX_PART.finditer(written)}
    return _REGEX_PART.sub(lambda found: f"{{{found['name']}}}", written).replace("/?", "/"), kinds


def _filled(route: str, parts: dict[str, str], values: dict[str, list[str]]) -> Iterator[str]:
    choices = [values.get(name) or values.get(kind, values["str"]) for name, kind in parts.items()]
    for chosen in product(*choices):
        yield route.format(**dict(zip(parts, chosen, strict=True)))


def ids() -> tuple[list[str], list[str]]:
    """The first number of every table, and of each table with UUIDs the first and the last: links lead to the rest."""
    numbers: set[int] = set()
    uuids: set[str] = set()
    for model in apps.get_models():
        keys = model._default_manager.order_by("pk").values_list("pk", flat=True)
        if isinstance(model._meta.pk, models.UUIDField):
            uuids |= {str(key) for key in (keys.first(), keys.last()) if key is not None}
        elif isinstance(first := keys.first(), int):
            numbers.add(first)
    return [str(number) for number in sorted(numbers)], sorted(uuids)


def keys(*fields: str) -> list[str]:
    """The first value of every column that names its row in an address."""
    found: set[str] = set()
    for model in apps.get_models():
        for column in model._meta.concrete_fields:
            if column.name in (fields or ("key", "slug", "sha256")):
                found |= set(map(str, model._default_manager.order_by("pk").values_list(column.name, flat=True)[:1]))
    return sorted(found - {""})


# Questions ------------------------------------------------------------------------------------------

_ASKED = re.compile(
    r"""(?:(?:GET|query_params)(?:\.get(?:list)?\(|\[)|\w+\(request(?:\.GET)?,\s)["'](?P<name>[a-z_]+)["']"""
)
ORDERINGS = {"ordering", "order", "order_by", "sort"}
CODE = ("annotate", "benchmark", "fpco_site")


@cache
def parameters() -> tuple[str, ...]:
    """Every name that some page may ask an address for: read from the code, the forms and the serializers there are."""
    assert get_resolver().url_patterns  # which imports every form and serializer
    found = {
        match["name"]
        for room in CODE
        for path in (Path(settings.BASE_DIR) / room).rglob("*.py")
        for match in _ASKED.finditer(path.read_text(encoding="utf-8"))
    }
    waiting: list[type] = [forms.BaseForm, serializers.BaseSerializer]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.partition(".")[0] in CODE:
            found |= {*getattr(kind, "base_fields", ()), *getattr(kind, "_declared_fields", ())}
    return tuple(
        sorted(found | {"ordering", "order", "order_by", "sort", "search", "format", "fields", "expand", "include"})
    )


# Links ----------------------------------------------------------------------------------------------


def links(reply: Reply) -> Iterator[str]:
    """Where a reply leads within this site: links, redirects, fragments, addresses in JSON."""
    found = [value.partition(": ")[2] for value in reply.headers.splitlines() if _leads(value)]
    if "text/html" in reply.headers and reply.status != 404:  # a page that is not there leads where every page leads
        page = _Links()
        page.feed(reply.body)
        found += page.found
    if "json" in reply.headers:
        found += _JSON_LINK.findall(reply.body)
    for link in found:
        target = urlsplit(urldefrag(urljoin(HOST + reply.url, link)).url)
        if f"{target.scheme}://{target.netloc}" == HOST and not target.path.startswith(SKIPPED):
            yield target.path + (f"?{target.query}" if target.query else "")


def _leads(header: str) -> bool:
    return header.lower().startswith(("location: ", "hx-redirect: ", "hx-push-url: "))


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in LINKS and value]
        pairs = dict(attrs)
        if tag == "form" and (pairs.get("method") or "get").lower() == "get" and pairs.get("action"):
            self.found.append(str(pairs["action"]))
