"""Having candidate variants checked by models that see no results: advice that a person weighs."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum

from annotate import draft_progress
from annotate.models import Drafter, Item, User, VariantCheck
from annotate.models.items import ItemState
from annotate.models.variants import CheckState
from annotate.services import items
from fpco_site.errors import Conflict, FpcoError, Invalid, require_plain
from fpco_site.llm import engine, money, prompts, providers
from fpco_site.llm import variant_checks as wire
from fpco_site.llm.models import PRICE_COLUMNS

FAMILIES = 3  # that check each candidate in the published study
SCRIPTED = ("Alder", "Birch", "Cedar")  # families of the offline checkers, whose verdicts are marked simulated
OPEN = (CheckState.WAITING, CheckState.RUNNING)


@dataclass(frozen=True)
class Asked:
    """What a request for checks did: new checks, and complete variants that had theirs already."""

    made: int
    present: int
    incomplete: int


@dataclass(frozen=True)
class Spent:
    """What one checker has done and used so far."""

    checker: Drafter
    states: dict[str, int]
    used: draft_progress.Spent
    error: str = ""

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def done(self) -> int:
        return self.states.get(CheckState.READY, 0) + self.states.get(CheckState.FAILED, 0)

    @property
    def open(self) -> int:
        return sum(self.states.get(state, 0) for state in OPEN)


@dataclass(frozen=True)
class Checker:
    """A model that can check; `missing` says what keeps it from that, empty where nothing does."""

    checker: Drafter
    simulated: bool
    missing: str


def checkers() -> list[Checker]:
    """All models in use that could check, as the page offers them."""
    return [_offered(row) for row in Drafter.objects.filter(active=True).order_by("family", "name")]


def scripted_checkers() -> list[Drafter]:
    """Three offline checkers, each of a made-up family: they compare words, and are marked simulated."""
    return [
        Drafter.objects.get_or_create(
            name=f"Scripted checker {family} (simulated)",
            defaults={
                "provider": "drafter",
                "model_id": f"scripted-checker-{family.lower()}",
                "family": family,
                "max_output_tokens": 1024,
                "concurrency": 8,
            },
        )[0]
        for family in SCRIPTED
    ]


@transaction.atomic
def set_family(*, checker: Drafter, family: str) -> Drafter:
    """Say which family a model is of; checks that were made keep the family of their time."""
    if len(require_plain(family).strip()) > 100:
        raise Invalid("A family's name has at most 100 characters.")
    checker.family = family.strip()
    checker.save(update_fields=["family"])
    return checker


@transaction.atomic
def request(*, variants: Iterable[Item], checkers: Sequence[Drafter], by: User) -> Asked:
    """Ask each checker once about each complete variant as it is worded now. Failed checks are asked again."""
    _check_checkers(checkers)
    prompt = prompts.load(wire.PROMPT)
    rows, incomplete, wanted = [], 0, 0
    for item in variants:
        candidate = candidate_of(item)
        if candidate is None:
            incomplete += 1
            continue
        wanted += len(checkers)
        rows += [_row(item, checker, candidate, prompt, by) for checker in checkers]
    before = VariantCheck.objects.count()
    VariantCheck.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    made = VariantCheck.objects.count() - before
    for checker in checkers:
        engine.hint_for(checker.provider)
    return Asked(made=made, present=wanted - made, incomplete=incomplete)


@transaction.atomic
def stop() -> int:
    """Ask nothing more; calls in flight end and are kept, and what they leave open stays stopped."""
    # One statement for both states: a check that a worker claims meanwhile would slip between two.
    return VariantCheck.objects.filter(state__in=OPEN).update(state=CheckState.STOPPED)


@transaction.atomic
def go_on() -> int:
    """Go on with what was stopped; what a worker still holds it goes on with itself."""
    rows = VariantCheck.objects.filter(state=CheckState.STOPPED)
    for checker in Drafter.objects.filter(pk__in=rows.values("checker")):
        providers.check(checker.endpoint())
        engine.hint_for(checker.provider)
    held = rows.filter(lease_token__isnull=False).update(state=CheckState.RUNNING, error="")
    return held + rows.update(state=CheckState.WAITING, error="")


def stop_by_engine(*, checker: int, reason: str) -> None:
    """Stop what waits for one checker, and say why: its provider refuses for good."""
    waiting = VariantCheck.objects.filter(checker=checker, state=CheckState.WAITING)
    waiting.update(state=CheckState.STOPPED, error=reason)


def candidate_of(item: Item) -> wire.Candidate | None:
    """A variant as a checker may see it; None where it is not complete."""
    if item.parent_id is None or item.state == ItemState.REJECTED:
        return None
    texts = items.texts_of(item)
    question = texts.questions[max(texts.questions)]
    if not (texts.target_description and texts.modified_target_description and question.modified and question.content):
        return None
    return wire.Candidate(
        premise_class=item.premise_class,
        target_description=texts.target_description,
        modified_target_description=texts.modified_target_description,
        content=question.content,
        modified=question.modified,
    )


def rows_for(parent: Item | None = None) -> Iterable[Item]:
    """The variants of one parent or of all, with what a request reads."""
    found = Item.objects.filter(parent__isnull=False) if parent is None else parent.variants.all()
    return found.select_related("image").prefetch_related("turns").order_by("pk")


def asked_hash(item: Item, candidate: wire.Candidate) -> str:
    """The name of one wording over one picture."""
    asked = json.dumps({**candidate.as_json(), "picture": item.image.sha256}, sort_keys=True)
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()


def spent() -> list[Spent]:
    """Counts, tokens and cost of every checker that was asked anything."""
    states: dict[int, dict[str, int]] = {}
    sums: dict[int, dict[money.Prices, draft_progress.Spent]] = {}
    rows = VariantCheck.objects.order_by().values("checker", "state", *PRICE_COLUMNS)
    counted: Iterable[Mapping[str, Any]] = rows.annotate(
        n=Count("pk"),
        calls=Sum("tries"),
        replies=Count("pk", filter=Q(state=CheckState.READY) | Q(unusable__gt=0)),
        counted=Count("pk", filter=Q(input_tokens__isnull=False, output_tokens__isnull=False)),
        input=Sum("input_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        output=Sum("output_tokens", default=0),
    )
    for row in counted:
        of = states.setdefault(row["checker"], {})
        of[row["state"]] = of.get(row["state"], 0) + row["n"]
        by_price = sums.setdefault(row["checker"], {})
        prices = money.Prices(*(row[name] for name in PRICE_COLUMNS))
        by_price[prices] = by_price.get(prices, draft_progress.Spent()).plus(row)
    stopped = VariantCheck.objects.filter(state=CheckState.STOPPED).exclude(error="")
    why = dict(stopped.values_list("checker", "error"))
    checkers = Drafter.objects.filter(pk__in=sums).order_by("name")
    return [
        Spent(checker, states[checker.pk], _used(checker, sums[checker.pk]), why.get(checker.pk, ""))
        for checker in checkers
    ]


def _offered(row: Drafter) -> Checker:
    try:
        providers.check(row.endpoint())
    except FpcoError as error:
        return Checker(row, False, error.message)
    return Checker(row, providers.is_simulated(row.provider), "" if row.family else "Say its family first.")


def _used(checker: Drafter, by_price: Mapping[money.Prices, draft_progress.Spent]) -> draft_progress.Spent:
    """What one checker used, each check at the prices that it was made with."""
    simulated = providers.is_simulated(checker.provider)
    priced = (draft_progress.priced(used, prices, simulated=simulated) for prices, used in by_price.items())
    return draft_progress.together(priced)


def _check_checkers(checkers: Sequence[Drafter]) -> None:
    if not checkers:
        raise Invalid("Choose the models that check: three of different families.")
    for checker in checkers:
        if not checker.active:
            raise Conflict(f"{checker} is not in use any more.")
        if not checker.family:
            raise Invalid(f"Say which family {checker} is of, so that three families can be told apart.")
        providers.check(checker.endpoint())


def _row(item: Item, checker: Drafter, candidate: wire.Candidate, prompt: prompts.Prompt, by: User) -> VariantCheck:
    return VariantCheck(
        item=item,
        item_version=item.version,
        checker=checker,
        family=checker.family,
        prompt_name=prompt.name,
        prompt_version=str(prompt.version),
        prompt_sha256=prompt.sha256,
        asked=candidate.as_json(),
        asked_sha256=asked_hash(item, candidate),
        model_asked=checker.model_id,
        **checker.price_columns(),
        simulated=providers.is_simulated(checker.provider),
        requested_by=by,
    )
