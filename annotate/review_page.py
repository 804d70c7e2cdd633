"""What the page of one decision shows of an item to the person who decides. Reads only."""

from collections.abc import Iterable
from typing import Any

from annotate.linting import Finding, Severity
from annotate.models import Comment, Item, User
from annotate.models.comments import LineField
from annotate.models.items import ItemState
from annotate.services import comments, reviews, rules, undo
from annotate.sheets import Sheet, ticket

CHECKS = (
    ("grounding", "Grounded", "The description is true of what the picture shows."),
    ("consistency", "One target", "Every question is about the same target and nothing else."),
    ("naturalness", "Natural", "People talk like this; no names, nothing offensive, no guesses about persons."),
    ("single_error", "One error", "The premise is wrong in exactly one way, of the given class."),
)


def context(item: Item, person: User) -> dict[str, Any]:
    """The sheet line by line with findings and comments, the verdicts, and what keeps this person from deciding."""
    sheet, rule = reviews.sheet_of(item), rules.current()
    remarks = comments.visible(item, person, rule)
    given = reviews.given_by(person, [item]).get(item.pk)
    own = rule.approver_not_last_editor and item.edited_by_id == person.pk
    pair = reviews.is_pair(item, rule)
    return {
        "item": item,
        "sheet": sheet,
        "general": _shown(sheet.general),
        "rows": [row(line.number, line, remarks) for line in sheet.lines],
        "about_description": comments.of_line(remarks, None, LineField.TARGET_DESCRIPTION),
        "about_premise": comments.of_line(remarks, None, LineField.MODIFIED_TARGET_DESCRIPTION),
        "remarks": remarks,
        "open_remarks": sum(remark.resolved_at is None for remark in remarks),
        "lines": line_choices(sheet),
        "checks": CHECKS,
        "reviews": reviews.visible(item, person),
        "given": given,
        "own": own,
        "pair": pair,
        "decides": item.state == ItemState.IN_REVIEW and given is None and not (own and pair),
        "step": undo.last_step(person),
    }


def row(number: int, line: Any, remarks: Iterable[Comment]) -> dict[str, Any]:
    """One question with its findings, each with what ticks it, and the comments on either of its texts."""
    return {
        "line": line,
        "findings": _shown(line.findings),
        "remarks": [remark for remark in remarks if remark.turn == number],
    }


def line_choices(sheet: Sheet) -> list[tuple[str, str]]:
    """The lines that a comment can be about, as `turn:field` and in words."""
    found = [("", "the whole item"), *((f":{name}", f"the {LineField(name).label}") for name in _DESCRIPTIONS)]
    for line in sheet.lines:
        found.append((f"{line.number}:content", f"question {line.number}"))
        if line.false_premise:
            found.append((f"{line.number}:modified", f"modified question {line.number}"))
    return found


_DESCRIPTIONS = ("target_description", "modified_target_description")


def _shown(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [
        {"finding": finding, "ticket": ticket(finding) if finding.severity is Severity.WARNING else ""}
        for finding in findings
    ]
