"""Rows that the engine keeps: workers, gates, leases and the description of an endpoint."""

import json
import math
import uuid
from decimal import Decimal
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from fpco_site.fields import WrittenField
from fpco_site.llm import money, settings_rules
from fpco_site.llm.types import TIMEOUT, Endpoint, Usage

# Versions up to 100 are files that ship with the software; what authors save is counted from here.
FIRST_SAVED = 101
LONGEST_TIMEOUT = 3600
PRICE_COLUMNS = ("price_input", "price_cached_input", "price_output")


class PriceFields(models.Model):
    """Prices in US dollars per million tokens; null is unknown, which is not zero."""

    price_input = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_cached_input = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_output = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def prices(self) -> money.Prices:
        return money.Prices(self.price_input, self.price_cached_input, self.price_output)

    def price_columns(self) -> dict[str, Decimal | None]:
        """The three columns by name, for a row that keeps them."""
        return {name: getattr(self, name) for name in PRICE_COLUMNS}


class EndpointFields(PriceFields):
    """Where and how a model is asked. Keys are named, never stored (design section 6, rule 5)."""

    provider = models.CharField(max_length=40)
    model_id = models.CharField(max_length=200)
    base_url = models.CharField(max_length=500, blank=True)
    api_key_env = models.CharField(max_length=100, blank=True)
    max_output_tokens = models.PositiveIntegerField(default=256)
    temperature = models.FloatField(null=True, blank=True)
    top_p = models.FloatField(null=True, blank=True)
    concurrency = models.PositiveIntegerField(default=4)
    options = models.JSONField(default=dict, blank=True)
    timeout = models.FloatField(default=TIMEOUT)
    # What the model refuses and an author has confirmed to leave out: the setting's name -> the reason.
    not_sent = models.JSONField(default=dict, blank=True, editable=False)

    class Meta(PriceFields.Meta):
        abstract = True

    def clean(self) -> None:
        """Numbers make sense, an address is one, and options hold only what JSON and both databases can store."""
        super().clean()
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValidationError("A base URL starts with http:// or https://.")
        if 0 in (self.concurrency, self.max_output_tokens):
            raise ValidationError("Calls at once and output tokens are at least 1; with 0 nothing would ever be said.")
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise ValidationError(f"An answer is waited for up to {LONGEST_TIMEOUT:,} seconds, and longer than 0.")
        if any(price is not None and price < 0 for price in self.price_columns().values()):
            raise ValidationError("A price is 0 or more.")
        if any(value is not None and not math.isfinite(value) for value in (self.temperature, self.top_p)):
            raise ValidationError("Temperature and top-p are plain numbers.")
        try:
            text = json.dumps(self.options, ensure_ascii=False, allow_nan=False)
            text.encode()
        except ValueError as error:
            raise ValidationError("Options hold a number or character that JSON can't carry.") from error
        if "\\u0000" in text:
            raise ValidationError("Options hold a NUL character; remove it.")

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
            timeout=settings_rules.timeout(self.provider, self.timeout),
            not_sent=dict(self.not_sent),
        )

    def settings(self) -> dict[str, Any]:
        """What a run keeps of the endpoint: everything that was asked for, in plain values."""
        names = (
            "provider",
            "model_id",
            "base_url",
            "api_key_env",
            "max_output_tokens",
            "temperature",
            "top_p",
            "options",
            "timeout",
            "not_sent",
        )
        return {name: getattr(self, name) for name in names}


TOKEN_COLUMNS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")


def usage_columns(usage: Usage) -> dict[str, int | None]:
    """The `UsageFields` of a call."""
    return dict(zip(TOKEN_COLUMNS, (usage.input, usage.cached, usage.output, usage.reasoning), strict=True))


class UsageFields(models.Model):
    """Tokens as billed: input includes cached, output includes reasoning; null is unknown."""

    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        abstract = True


class Worker(models.Model):
    """A live process that claims work. `beats` grows every few seconds; no clock is compared."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    # Whose models it asks (`providers.place_of`): empty for those that any machine reaches.
    place = models.CharField(max_length=20, blank=True)
    beats = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now=True)  # for people to read; never compared
    stopped_at = models.DateTimeField(null=True, blank=True)
    # The keys of the gates that it holds work for: only such workers share a limit.
    gates = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class Gate(models.Model):
    """What all workers know of one key's rate limit (design section 4).

    `limit` is the calls in flight allowed over all workers, null for no limit yet. `wait` is in
    seconds from the moment a worker first sees `epoch`, on that worker's own monotonic clock.
    `shrunk` is the epoch that the last shrink opened: a 429 that was sent under an earlier one is no news.
    Times are the database's.
    """

    key = models.CharField(max_length=700, unique=True)
    epoch = models.PositiveBigIntegerField(default=0)
    shrunk = models.PositiveBigIntegerField(default=0)
    wait = models.FloatField(default=0)
    limit = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)  # when the wait began
    changed_at = models.DateTimeField(null=True, blank=True)  # when the limit became what it is

    def __str__(self) -> str:
        return self.key


class Leased(models.Model):
    """Work that one worker holds at a time; every write is fenced on the token."""

    lease_worker = models.ForeignKey(Worker, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    lease_token = models.UUIDField(null=True, blank=True)

    class Meta:
        abstract = True

    FREE: ClassVar[dict[str, None]] = {"lease_worker": None, "lease_token": None}


class PromptVersion(models.Model):
    """A prompt that an author saved. Rows are only added; `by` is a plain name, so that it outlives people."""

    name = models.CharField(max_length=60)
    version = models.PositiveIntegerField()
    text = WrittenField()
    sha256 = models.CharField(max_length=64)
    note = WrittenField(blank=True)
    by = models.CharField(max_length=150, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version"],
                name="llm_promptversion_once",
                violation_error_message="This version of the prompt was saved meanwhile.",
            ),
            models.UniqueConstraint(
                fields=["name", "sha256"],
                name="llm_promptversion_text_once",
                violation_error_message="A version with exactly this text exists already.",
            ),
            models.CheckConstraint(
                condition=models.Q(version__gte=FIRST_SAVED),
                name="llm_promptversion_numbers",
                violation_error_message="Saved versions are counted from 101; those below ship with the software.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}.v{self.version}"
