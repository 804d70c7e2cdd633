"""The settings of the study: how many images a cell wants, and the rules of review. Each change stays on record."""

from django.db import transaction

from annotate.models import Protocol, ReviewRules, StudyChange, User
from annotate.models.protocols import STUDY
from annotate.services import protocols, rules
from fpco_site.errors import Invalid

MOST_PER_CELL = 1000
PUBLISHED_PER_CELL = int(STUDY["per_cell"])


@transaction.atomic
def save(
    *, per_cell: int, approver_not_last_editor: bool, second_share: float, seed: int, by: User
) -> list[StudyChange]:
    """Set everything at once; returns what was changed. A frozen dataset keeps the protocol it was frozen with."""
    if not 1 <= per_cell <= MOST_PER_CELL:
        raise Invalid(f"A cell wants 1 to {MOST_PER_CELL} images.")
    plan = Protocol.objects.select_for_update().get(pk=protocols.study().pk)
    before = _facts(plan, rules.current())
    wanted = {
        "approver_not_last_editor": approver_not_last_editor,
        "second_share": second_share,
        "seed": seed,
    }
    if wanted != {name: before[name] for name in wanted}:
        rules.save(approver_not_last_editor=approver_not_last_editor, second_share=second_share, seed=seed, by=by)
    plan.per_cell = per_cell
    plan.save(update_fields=["per_cell"])
    after = {"per_cell": per_cell, **wanted}
    changes = [name for name in after if after[name] != before[name]]
    return [
        StudyChange.objects.create(name=name, before=str(before[name]), after=str(after[name]), by=by)
        for name in changes
    ]


def _facts(plan: Protocol, now: ReviewRules) -> dict[str, object]:
    return {
        "per_cell": plan.per_cell,
        "approver_not_last_editor": now.approver_not_last_editor,
        "second_share": now.second_share,
        "seed": now.seed,
    }
