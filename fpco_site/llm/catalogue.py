"""The catalogue of models, detectors and drafters (`models.toml`), read strictly: nothing unknown is passed over."""

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from fpco_site.errors import Invalid
from fpco_site.llm import providers, settings_rules
from fpco_site.llm.types import TIMEOUT, Endpoint

VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
SLUG = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
CONCURRENCY = 4
_REQUIRED = {"model": ("name", "family"), "detector": ("slug", "name"), "drafter": ("name",)}
_OPTIONAL = {"drafter": ("family",)}


@dataclass(frozen=True)
class Entry:
    """One model, detector or drafter. Prices are US dollars per million tokens; None is unknown, which is not zero.

    `slug` is a detector's, `family` a model's or a drafter's.
    """

    name: str
    provider: str
    model_id: str
    max_output_tokens: int
    slug: str = ""
    family: str = ""
    base_url: str = ""
    api_key_env: str = ""
    temperature: float | None = None
    top_p: float | None = None
    concurrency: int = CONCURRENCY
    price_input: Decimal | None = None
    price_cached_input: Decimal | None = None
    price_output: Decimal | None = None
    options: dict[str, Any] = field(default_factory=dict)
    timeout: float = TIMEOUT

    def endpoint(self) -> Endpoint:
        return Endpoint(
            provider=self.provider,
            model_id=self.model_id,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            max_output_tokens=self.max_output_tokens,
            temperature=self.temperature,
            top_p=self.top_p,
            options=dict(self.options),
            timeout=self.timeout,
        )


@dataclass(frozen=True)
class Catalogue:
    models: tuple[Entry, ...]
    detectors: tuple[Entry, ...]
    drafters: tuple[Entry, ...] = ()


def parse(text: str) -> Catalogue:
    """The catalogue in `text` (TOML). Raises Invalid with one sentence that says where and what is wrong."""
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"The catalogue is not valid TOML: {error}.") from error
    if unknown := sorted(document.keys() - _REQUIRED.keys()):
        raise Invalid(f"The catalogue has [[model]], [[detector]] and [[drafter]] entries; {unknown[0]!r} is none.")
    models = tuple(_entry("model", row, number) for number, row in _rows(document, "model"))
    detectors = tuple(_entry("detector", row, number) for number, row in _rows(document, "detector"))
    _refuse_twins("model", "name", [entry.name for entry in models])
    drafters = tuple(_entry("drafter", row, number) for number, row in _rows(document, "drafter"))
    _refuse_twins("detector", "slug", [entry.slug for entry in detectors])
    _refuse_twins("drafter", "name", [entry.name for entry in drafters])
    return Catalogue(models=models, detectors=detectors, drafters=drafters)


def _rows(document: dict[str, Any], kind: str) -> Iterable[tuple[int, Any]]:
    rows = document.get(kind, [])
    if not isinstance(rows, list):
        raise Invalid(f"In the catalogue each {kind} is an entry of its own, [[{kind}]] with double brackets.")
    return enumerate(rows, start=1)


def _entry(kind: str, row: Any, number: int) -> Entry:
    if not isinstance(row, dict):
        raise Invalid(f"In the catalogue each {kind} is an entry of its own, [[{kind}]] with double brackets.")
    where = f"[[{kind}]] number {number} ({row.get('name')!r})" if row.get("name") else f"[[{kind}]] number {number}"
    required = _REQUIRED[kind]
    known = _KNOWN | {*required, *_OPTIONAL.get(kind, ())}
    if unknown := sorted(row.keys() - known):
        raise Invalid(f"{where} has an unknown field {unknown[0]!r}; known are {', '.join(sorted(known))}.")
    for name in (*required, "provider", "model_id"):
        if name not in row:
            raise Invalid(f"{where} lacks the field {name!r}.")
    values = {name: _checked(where, name, value) for name, value in row.items()}
    _check_provider(where, values)
    usual = settings_rules.defaults(values["provider"], values["model_id"])
    most = settings_rules.DRAFT_CAP if kind == "drafter" else usual.max_output_tokens
    values.setdefault("max_output_tokens", most)
    values.setdefault("temperature", usual.temperature)
    values.setdefault("top_p", usual.top_p)
    return Entry(**values)


def _checked(where: str, name: str, value: Any) -> Any:
    """`value` of the right type and within its limits. A value that may be a key is never repeated."""
    holds, rule, convert = _FIELDS[name]
    if not holds(value):
        raise Invalid(f"In {where}, {name!r} {rule}.")
    return convert(value)


def _check_provider(where: str, values: dict[str, Any]) -> None:
    provider = values["provider"]
    if provider not in providers.names():
        raise Invalid(f"{where} has an unknown provider {provider!r}; known are {', '.join(providers.names())}.")
    if provider == "openai_compatible" and "base_url" not in values:
        raise Invalid(f"{where} needs a 'base_url', the address of the server to ask.")


def _refuse_twins(kind: str, field_name: str, values: list[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise Invalid(f"The catalogue has two [[{kind}]] entries with the {field_name} {value!r}.")
        seen.add(value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _number(low: float, high: float) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        return number and Decimal(value).is_finite() and Decimal(str(low)) <= value <= Decimal(str(high))

    return holds


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _plain(value: Any) -> Any:
    """Options are stored as JSON, which has no Decimal."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, Decimal) else value


def _json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_json(inner) for inner in value.values())
    if isinstance(value, list):
        return all(_json(inner) for inner in value)
    return isinstance(value, str | bool | int) or (isinstance(value, Decimal) and value.is_finite())


_Rule = tuple[Callable[[Any], bool], str, Callable[[Any], Any]]
_TEXT: _Rule = (_text, "must be a text that is not empty", str.strip)
_PRICE: _Rule = (_number(0, 100_000), "must be a price in dollars per million tokens, 0 or more", Decimal)
_FIELDS: dict[str, _Rule] = {
    "name": _TEXT,
    "family": _TEXT,
    "provider": _TEXT,
    "model_id": _TEXT,
    "slug": (
        lambda value: isinstance(value, str) and bool(SLUG.fullmatch(value)),
        "must be lower-case letters and digits, joined by - or _",
        str,
    ),
    "base_url": (
        lambda value: isinstance(value, str) and value.startswith(("http://", "https://")),
        "must start with http:// or https://",
        str,
    ),
    "api_key_env": (
        lambda value: isinstance(value, str) and bool(VARIABLE.fullmatch(value)),
        "must name an environment variable (capital letters, digits and _), never hold a key",
        str,
    ),
    "max_output_tokens": (_whole(1, 1_000_000), "must be a whole number from 1 to 1000000", int),
    "concurrency": (_whole(1, 1000), "must be a whole number from 1 to 1000", int),
    "timeout": (_number(1, 3600), "must be a number of seconds from 1 to 3600", float),
    "temperature": (_number(0, 2), "must be a number from 0 to 2", float),
    "top_p": (_number(0, 1), "must be a number from 0 to 1", float),
    "price_input": _PRICE,
    "price_cached_input": _PRICE,
    "price_output": _PRICE,
    "options": (lambda value: isinstance(value, dict) and _json(value), "must be a table of plain values", _plain),
}
_KNOWN = _FIELDS.keys() - {"slug", "family"}
