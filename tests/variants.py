"""Variants as tests need them: written, approved and checked."""

from typing import Any

from annotate.models import Item, User, VariantCheck
from annotate.services import items, reviews, variant_checks, variants
from fpco_site.llm.variant_checks import QUESTIONS
from tests import factories

PREMISES = {
    "identity_A": "the striped fox on the chair",
    "identity_B": "the striped owl on the chair",
    "attribute_A": "the spotted cat on the chair",
    "attribute_B": "the black cat on the chair",
    "location_A": "the striped cat under the chair",
    "location_B": "the striped cat behind the chair",
}


def chosen(by: User, **more: Any) -> Item:
    """An approved item with its six variants, all written."""
    parent = factories.item(state="approved", **more)
    for row in variants.choose(parent=parent, by=by):
        move = variants.Move(row, row.version, PREMISES[f"{row.premise_class}_{row.variant}"], "")
        variants.save(move=move, by=by)
    return parent


def approve(parent: Item, *, by: User, author: User) -> None:
    """Hand all six to review and approve them, with every warning ticked."""
    variants.submit(parent=parent, by=author)
    for row in parent.variants.filter(state="in_review"):
        tickets = [ticket for ticket, _ in reviews.sheet_of(row).tickets]
        reviews.decide(
            item=row, version=row.version, verdict="approved", by=by, checks=reviews.ALL_HOLD, accepted=tickets
        )


def check(parent: Item, *, by: User, **no: bool) -> None:
    """Three real families say yes to everything but `no`."""
    checkers = variant_checks.scripted_checkers()
    variant_checks.request(variants=variant_checks.rows_for(parent), checkers=checkers, by=by)
    payload = {**dict.fromkeys(QUESTIONS, True), **no, "reason": "As the picture shows."}
    VariantCheck.objects.filter(item__parent=parent).update(state="ready", payload=payload, simulated=False)


def question(item: Item) -> str:
    """The one question that a variant asks with its premise."""
    return items.texts_of(item).questions[4].modified
