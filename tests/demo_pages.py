"""Walks through the demo as a person would: from page to page, by every link and every fragment that loads itself."""

import re
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from django.db import connection, reset_queries
from django.http import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

from annotate.models import User
from benchmark.models import Run

HOST = "127.0.0.1"
SAMPLES = 2  # pages of one address and one kind of query: the third item's page asks what the second's asked
WAYS = {"a": "href", "img": "src", "form": "action"}


@dataclass(frozen=True)
class Visit:
    """One page as it was answered; `seconds` is the server's time, `sql` every query in order.

    `linked` is whether a page led there; other addresses were only tried. `html` is whether it is a whole page.
    """

    who: str
    path: str
    name: str
    status: int
    seconds: float
    sql: tuple[str, ...]
    linked: bool = False
    html: bool = False

    def __str__(self) -> str:
        return f"{self.who} {self.path} ({self.name}): {self.status}, {len(self.sql)} queries"


class Links(HTMLParser):
    """Addresses that a page leads to without a POST."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and (given.get("method") or "get").lower() != "get":
            return
        self.found += [url for url in (given.get(WAYS.get(tag, "")), given.get("hx-get")) if url]


def client_of(person: User) -> Client:
    client = Client(SERVER_NAME=HOST)
    client.force_login(person)
    return client


def walk(person: User, *, brief: bool = False) -> Iterator[Visit]:
    """Every page that this person reaches, every address that needs no argument, and the API's by its own ids.

    When `brief`, what links lead to alone, and few pages of one address whatever is asked of it.
    """
    client = client_of(person)
    waiting = deque([("/", True)])
    if not brief:
        waiting += [(path, False) for path in [*plain_paths(), *asking_paths()]]
    seen: set[str] = set()
    samples: Counter[tuple[str, frozenset[str]]] = Counter()
    while waiting:
        path, linked = waiting.popleft()
        if path in seen:
            continue
        seen.add(path)
        name = name_of(path)
        kind = (name, frozenset(key for key, _ in parse_qsl(urlsplit(path).query) if not brief))
        if not name or samples[kind] >= SAMPLES:
            continue
        samples[kind] += 1
        visit, response = look(client, person, path)
        yield replace(visit, linked=linked)
        waiting += [(link, True) for link in links(path, response)]
        if not brief:
            waiting += [(link, False) for link in api_paths(path, response)]


def look(client: Client, person: User, path: str) -> tuple[Visit, HttpResponseBase]:
    """Ask for one page; a fragment gets the header that htmx would send only where it insists on it."""
    reset_queries()  # the log holds 9,000 queries, and a full one counts none
    with CaptureQueriesContext(connection) as queries:
        begin = time.perf_counter()
        response = client.get(path)
        if response.streaming:
            b"".join(response)  # type: ignore[arg-type]
        seconds = time.perf_counter() - begin
    sql = tuple(query["sql"] for query in queries.captured_queries)
    html = not response.streaming and b"<!doctype html" in response.content[:200].lower()  # type: ignore[attr-defined]
    return Visit(person.username, path, name_of(path), response.status_code, seconds, sql, html=html), response


def links(path: str, response: HttpResponseBase) -> list[str]:
    """Addresses of this site that an answer leads to."""
    if 300 <= response.status_code < 400:
        return [urljoin(path, response["Location"])]
    if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
        return []
    parser = Links()
    parser.feed(response.content.decode())  # type: ignore[attr-defined]
    targets = (urldefrag(urljoin(path, link))[0] for link in parser.found)
    return [target for target in targets if target.startswith("/") and not target.startswith(("//", "/static/"))]


def api_paths(path: str, response: HttpResponseBase) -> list[str]:
    """Addresses of the rows that a list of the API holds."""
    if not path.startswith("/api/") or response.get("Content-Type") != "application/json":
        return []
    body = response.json()  # type: ignore[attr-defined]
    rows = body.get("results", []) if isinstance(body, dict) else body
    below = [route for route in routes(get_resolver()) if re.fullmatch(rf"{re.escape(path[1:])}<[^>]+>/[^<]*", route)]
    return [
        "/" + re.sub(r"<\w+:(\w+)>", str(row["key"] if "<slug:key>" in route else row["id"]), route)
        for route in below
        for row in rows[:SAMPLES]
    ]


def asking_paths() -> list[str]:
    """Addresses that answer only with a question behind them."""
    run = Run.objects.latest("pk")
    return [f"/api/v1/runs/{run.pk}/responses/", f"/api/v1/results/?dataset={run.dataset_id}"]


def name_of(path: str) -> str:
    """The name of the address, or its route where it has none; empty where nothing answers there."""
    try:
        match = resolve(urlsplit(path).path)
    except Resolver404:
        return ""
    return match.view_name or match.route


def plain_paths() -> list[str]:
    """Every address without an argument."""
    return [f"/{route}" for route in routes(get_resolver()) if not re.search(r"[<(\[]", route)]


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield route.removesuffix("$").removeprefix("^")
        else:
            yield from routes(entry, route)
