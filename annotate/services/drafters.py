"""The models that draft, and how each is asked."""

from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction

from annotate.models import Drafter, User
from fpco_site.errors import Invalid
from fpco_site.llm import providers

SCRIPTED = "Scripted drafter (simulated)"


def default() -> Drafter:
    """The offline drafter, which is always there; its drafts are marked simulated."""
    drafter, _ = Drafter.objects.get_or_create(
        name=SCRIPTED, defaults={"provider": "drafter", "model_id": "scripted-drafter", "max_output_tokens": 4096}
    )
    return drafter


def ensure(*, name: str, **values: Any) -> Literal["created", "updated", "unchanged"]:
    """Keep a drafter as the catalogue describes it. Drafts made before say themselves what they were made with."""
    known = Drafter.objects.filter(name=name).first()
    if known is None:
        Drafter.objects.create(name=name, **values)
        return "created"
    if all(getattr(known, field) == value for field, value in values.items()):
        return "unchanged"
    Drafter.objects.filter(pk=known.pk).update(**values)
    return "updated"


@transaction.atomic
def create(*, by: User, **values: Any) -> Drafter:
    """A new drafter from the columns of `Drafter`. Raises Invalid with what is wrong."""
    return _saved(Drafter(**values))


@transaction.atomic
def update(*, drafter: Drafter, by: User, **values: Any) -> Drafter:
    """Change how a drafter is asked from its next call on; calls that were made keep what they were sent with."""
    row = Drafter.objects.select_for_update().get(pk=drafter.pk)
    for name, value in values.items():
        setattr(row, name, value)
    return _saved(row)


@transaction.atomic
def set_active(*, drafter: Drafter, active: bool, by: User) -> None:
    """Offer a drafter or no longer; drafts that it made stay, and jobs that run go on."""
    Drafter.objects.filter(pk=drafter.pk).update(active=active)


def _saved(drafter: Drafter) -> Drafter:
    providers.is_simulated(drafter.provider)  # refuses a provider that doesn't exist
    try:
        drafter.full_clean()
    except ValidationError as error:
        raise Invalid(f"{drafter.name or 'The drafter'}: {' '.join(error.messages)}") from error
    drafter.save()
    return drafter
