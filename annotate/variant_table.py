"""The variants as their pages show them: each image with its six, what is missing first. Reads only."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Prefetch, Q, QuerySet

from annotate import drafting, selectors, sheets
from annotate.axes import CELLS, PremiseClass
from annotate.models import Draft, Item, Protocol, VariantCheck, VariantDraw
from annotate.models.drafts import OPEN, DraftKind, DraftState
from annotate.models.items import ItemState
from annotate.models.variants import CheckState
from annotate.services import items, protocols, variant_checks, variants
from annotate.sheets import Sheet
from fpco_site.llm.variant_checks import QUESTIONS

QUESTION_WORDS = {
    "target_visible": "the target is to be seen as described",
    "premise_false": "the premise is false of the picture",
    "of_class": "the change is of its class",
    "natural": "it is natural",
    "single_error": "it is the only error",
}


@dataclass(frozen=True)
class Opinion:
    """One model's check of the wording as it is now; `objections` are the questions that it answers with no."""

    check: VariantCheck
    objections: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        return self.check.state == CheckState.READY

    @property
    def words(self) -> str:
        """The verdict in one line: the family, and what it says no to."""
        if not self.is_ready:
            return f"{self.check.family}: {self.check.get_state_display()}"
        said = [QUESTION_WORDS[name] for name in self.objections]
        return f"{self.check.family}: {'not that ' + ', nor that '.join(said) if said else 'all five hold'}"


@dataclass(frozen=True)
class Slot:
    """One variant: its texts with what the rules and the models say, and drafts that wait to be put in."""

    item: Item
    sheet: Sheet
    opinions: tuple[Opinion, ...] = ()
    drafts: tuple[Draft, ...] = ()
    may_adopt: bool = False

    @property
    def name(self) -> str:
        return variants.name_of(self.item)

    @property
    def field(self) -> str:
        """The start of this variant's field names in a form."""
        return f"{self.item.premise_class}_{self.item.variant}"

    @property
    def change(self) -> str:
        """The words that the premise puts in: "fox" for "the striped fox"."""
        found = drafting.changes(self.item.target_description, self.item.modified_target_description)
        return " … ".join(" ".join(change.new) for change in found if change.new)

    @property
    def out_of_step(self) -> bool:
        return any(finding.code == "variant_out_of_step" for finding in self.sheet.findings)

    @property
    def approved(self) -> bool:
        return self.item.state == ItemState.APPROVED

    @property
    def ready(self) -> list[Opinion]:
        return [opinion for opinion in self.opinions if opinion.is_ready]

    @property
    def families(self) -> int:
        return len({opinion.check.family for opinion in self.ready})

    @property
    def disputed(self) -> list[str]:
        """What the models say yes and no to, in words."""
        noes = Counter(name for opinion in self.ready for name in opinion.objections)
        return [QUESTION_WORDS[name] for name in QUESTIONS if 0 < noes[name] < len(self.ready)]

    @property
    def objected(self) -> bool:
        return any(opinion.objections for opinion in self.ready)


@dataclass(frozen=True)
class Row:
    """One image with its variants, in the order of the classes and letters."""

    parent: Item
    slots: tuple[Slot, ...]

    @property
    def approved(self) -> int:
        return sum(slot.approved for slot in self.slots)

    @property
    def complete(self) -> bool:
        return self.approved == len(variants.SLOTS)

    @property
    def set_aside(self) -> bool:
        return bool(self.slots) and all(slot.item.state == ItemState.REJECTED for slot in self.slots)

    @property
    def out_of_step(self) -> int:
        return sum(slot.out_of_step for slot in self.slots)

    @property
    def classes(self) -> list[tuple[str, list[Slot]]]:
        return [(kind.label, [slot for slot in self.slots if slot.item.premise_class == kind]) for kind in PremiseClass]

    @property
    def urgency(self) -> tuple[bool, bool, bool, int, str]:
        return (self.set_aside, self.complete, not self.out_of_step, self.approved, self.parent.key)


@dataclass(frozen=True)
class Table:
    """All images of the study, what is missing first."""

    rows: list[Row]
    draws: list[VariantDraw] = field(default_factory=list)

    @cached_property
    def kept(self) -> list[Row]:
        return [row for row in self.rows if not row.set_aside]

    @property
    def approved(self) -> int:
        return sum(row.approved for row in self.kept)

    @property
    def wanted(self) -> int:
        return len(variants.SLOTS) * max(variants.IMAGES, len(self.kept))

    @cached_property
    def counts(self) -> Counter[str]:
        """Variants by what they wait for."""
        slots = [slot for row in self.kept for slot in row.slots]
        found: Counter[str] = Counter(str(slot.item.state) for slot in slots)
        found["empty"] = sum(not slot.item.modified_target_description for slot in slots)
        found["out_of_step"] = sum(slot.out_of_step for slot in slots)
        found["adoptable"] = sum(slot.may_adopt for slot in slots)
        found["unchecked"] = sum(slot.families < variant_checks.FAMILIES for slot in slots)
        found["disputed"] = sum(bool(slot.disputed) for slot in slots)
        return found

    @property
    def lacking(self) -> int:
        """Images still to be chosen."""
        return max(0, variants.IMAGES - len(self.kept))


def table() -> Table:
    """Every chosen image. A fixed number of queries, however many there are."""
    rows = sorted(_rows(variants.parents()), key=lambda row: row.urgency)
    return Table(rows=rows, draws=list(VariantDraw.objects.select_related("drawn_by")))


def row(parent: Item) -> Row:
    """One image with its six."""
    [found] = _rows(Item.objects.filter(pk=parent.pk))
    return found


def _rows(parents: QuerySet[Item]) -> list[Row]:
    turned = Item.objects.prefetch_related("turns").order_by("pk")
    found = list(parents.select_related("image").prefetch_related("turns", Prefetch("variants", turned, to_attr="six")))
    plan = protocols.lexical()
    every = [variant for parent in found for variant in parent.six]
    checks, drafts = _checks(every), _drafts(every)
    return [_row(parent, parent.six, plan, checks, drafts) for parent in found]


def _row(
    parent: Item,
    six: Sequence[Item],
    plan: Protocol,
    checks: dict[int, list[VariantCheck]],
    drafts: dict[int, list[Draft]],
) -> Row:
    for variant in six:
        variant.parent, variant.image = parent, parent.image
    order = {slot: place for place, slot in enumerate(variants.SLOTS)}
    six = sorted(six, key=lambda item: order[(item.premise_class, item.variant)])
    slots = [
        Slot(
            item=item,
            sheet=_sheet(item, parent, six, plan),
            opinions=_opinions(item, checks[item.pk]),
            drafts=tuple(drafts[item.pk]),
            may_adopt=variants.may_adopt(item),
        )
        for item in six
    ]
    return Row(parent, tuple(slots))


def _sheet(item: Item, parent: Item, six: Sequence[Item], plan: Protocol) -> Sheet:
    texts = items.texts_of(item)
    more = variants.findings_among(item, texts, parent=parent, siblings=six)
    return sheets.sheet(texts, premise_class=item.premise_class, plan=plan, more=more)


def _opinions(item: Item, checks: Iterable[VariantCheck]) -> tuple[Opinion, ...]:
    """The newest check of each model on the wording as it is now."""
    candidate = variant_checks.candidate_of(item)
    if candidate is None:
        return ()
    now = variant_checks.asked_hash(item, candidate)
    newest = {check.checker_id: check for check in checks if check.asked_sha256 == now}
    return tuple(Opinion(check, _objections(check)) for check in newest.values())


def _objections(check: VariantCheck) -> tuple[str, ...]:
    return tuple(name for name in QUESTIONS if (check.payload or {}).get(name) is False)


def _checks(every: Sequence[Item]) -> dict[int, list[VariantCheck]]:
    found: dict[int, list[VariantCheck]] = defaultdict(list)
    rows = VariantCheck.objects.filter(item__in=every).select_related("checker").defer("request", "reply")
    for check in rows.order_by("pk"):
        found[check.item_id].append(check)
    return found


def _drafts(every: Sequence[Item]) -> dict[int, list[Draft]]:
    """Premises that wait to be put in or are being made; where there is none of these, what failed last."""
    found: dict[int, list[Draft]] = defaultdict(list)
    shown = Q(state__in=[*OPEN, DraftState.FAILED]) | Q(state=DraftState.READY, applied_at=None, discarded_at=None)
    rows = Draft.objects.filter(shown, item__in=every, kind=DraftKind.PREMISE).select_related("drafter")
    empty = {item.pk for item in every if not item.modified_target_description}
    for draft in rows.defer("request", "reply").order_by("-pk"):
        if draft.state != DraftState.FAILED or (draft.item_id in empty and not found[draft.item_id]):
            found[draft.item_id].append(draft)
    return found


def candidates(cell: tuple[str, ...] = ()) -> QuerySet[Item]:
    """Approved items that could be chosen, of one cell or of all."""
    rows = variants.eligible().select_related("image")
    if all(cell) and cell:
        rows = rows.filter(complexity=cell[0], category=cell[1], premise_class=cell[2])
    return rows.order_by("complexity", "category", "premise_class", "key")


def chosen_grid(table: Table) -> dict[str, object]:
    """How many images come from each cell, as components/cell_grid.html draws them."""
    counts = Counter(row.parent.cell for row in table.kept)
    most = max(counts.values(), default=1)
    rows = [selectors.CellCount(cell=cell, quota=most, approved=counts[cell]) for cell in CELLS]
    return selectors.cell_grid(rows)
