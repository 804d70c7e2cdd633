"""The rules of review that a team sets for itself."""

from django.core.exceptions import ValidationError
from django.db import transaction

from annotate import second_reviews
from annotate.models import Item, ReviewRules, User
from annotate.models.people import Role
from fpco_site.errors import Invalid

_WORDS = {1: "one", 2: "two", 3: "three"}


def current() -> ReviewRules:
    """The one row of rules, made on first use."""
    rules, _ = ReviewRules.objects.get_or_create(pk=1)
    return rules


def people_needed(*, approver_not_last_editor: bool, second_share: float) -> int:
    """How many authors it takes to approve an item under these rules."""
    return 1 + bool(approver_not_last_editor) + (second_share > 0)


def check(*, approver_not_last_editor: bool, second_share: float) -> None:
    """Raises Invalid where the active authors are too few to fulfil these rules."""
    needed = people_needed(approver_not_last_editor=approver_not_last_editor, second_share=second_share)
    there = User.objects.filter(role=Role.AUTHOR, is_active=True).count()
    if there >= needed:
        return
    reasons = {
        (True, False): "the approver must not be the last editor",
        (False, True): "some items are reviewed by two people",
        (True, True): "some items are reviewed by two people, neither of them the last editor",
    }
    reason = reasons[bool(approver_not_last_editor), second_share > 0]
    raise Invalid(f"These rules need {_WORDS[needed]} active authors ({reason}); there {_are(there)}.")


@transaction.atomic
def save(*, approver_not_last_editor: bool, second_share: float, seed: int, by: User) -> ReviewRules:
    """Set the rules. Verdicts that were given stay; an item whose first of two verdicts is in still gets its second."""
    if not by.is_author:
        raise Invalid("Only authors set the rules of review.")
    check(approver_not_last_editor=approver_not_last_editor, second_share=second_share)
    current()
    rules = ReviewRules.objects.select_for_update().get(pk=1)
    rules.approver_not_last_editor = approver_not_last_editor
    rules.second_share = second_share
    rules.seed = seed
    try:
        rules.full_clean()
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    rules.save()
    return rules


def is_chosen(item: Item, rules: ReviewRules) -> bool:
    """Whether two people review this item independently."""
    return second_reviews.is_chosen(item.key, seed=rules.seed, share=rules.second_share)


def _are(n: int) -> str:
    return "is one" if n == 1 else f"are {n}" if n else "is none"
