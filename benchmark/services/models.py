"""Evaluated models, and the catalogue file that brings models and detectors at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotate.models import User
from annotate.services import drafters
from benchmark.models import EvaluatedModel
from benchmark.services import detectors
from fpco_site.errors import Invalid
from fpco_site.llm import catalogue, providers
from fpco_site.llm.endpoints import is_local

# What a catalogue entry and an endpoint's row have in common.
ENDPOINT_FIELDS = (
    "provider",
    "model_id",
    "base_url",
    "api_key_env",
    "max_output_tokens",
    "temperature",
    "top_p",
    "concurrency",
    "options",
    "timeout",
    "price_input",
    "price_cached_input",
    "price_output",
)


@dataclass
class Loaded:
    """What a catalogue changed, by name."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    new_versions: list[str] = field(default_factory=list)
    local: int = 0  # models that are asked by workers for local models

    def __str__(self) -> str:
        parts = [
            f"{len(names)} {word}"
            for word, names in (
                ("created", self.created),
                ("updated", self.updated),
                ("new detector versions", self.new_versions),
                ("unchanged", self.unchanged),
            )
            if names
        ]
        return ", ".join(parts) or "nothing in it"


@transaction.atomic
def create(*, by: User | None, **values: Any) -> EvaluatedModel:
    """A new model from the columns of `EvaluatedModel`. Raises Invalid with what is wrong."""
    return _saved(EvaluatedModel(**values))


@transaction.atomic
def update(*, model: EvaluatedModel, by: User | None, **values: Any) -> EvaluatedModel:
    """Change how a model is asked from now on; a run that exists keeps the settings it was made with.

    A model that came from a release is no longer *imported* once it has a provider to be asked. What another
    model at another address refused is sent again.
    """
    row = EvaluatedModel.objects.select_for_update().get(pk=model.pk)
    asked = _whom(row)
    for name, value in values.items():
        setattr(row, name, value)
    if row.imported and row.provider in providers.names():
        row.imported = False
    if _whom(row) != asked:
        row.not_sent = {}
    return _saved(row)


@transaction.atomic
def load_catalogue(*, text: str, by: User | None) -> Loaded:
    """Create or update every model and detector of a `models.toml`; all of it or, at an error, nothing.

    Models are known by name, detectors by slug; a detector whose model, prompt or settings differ
    becomes a new version. Raises Invalid with a sentence that says where and what is wrong.
    """
    found = catalogue.parse(text)
    loaded = Loaded()
    for entry in found.models:
        values = {**entry_values(entry), "name": entry.name, "family": entry.family}
        _load_model(values, loaded, by)
        loaded.local += is_local(entry.provider)
    for entry in found.detectors:
        made, changed = detectors.ensure(by=by, slug=entry.slug, name=entry.name, **entry_values(entry))
        names = loaded.unchanged if not changed else loaded.created if made.version == 1 else loaded.new_versions
        names.append(made.slug)
    for entry in found.drafters:
        family = {"family": entry.family} if entry.family else {}  # left out, it stays as an author named it
        state = drafters.ensure(name=entry.name, **entry_values(entry), **family)
        getattr(loaded, state).append(entry.name)
    return loaded


def _whom(model: EvaluatedModel) -> tuple[str, str, str]:
    return model.provider, model.model_id, model.base_url


def entry_values(entry: catalogue.Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ENDPOINT_FIELDS}


def _load_model(values: Mapping[str, Any], loaded: Loaded, by: User | None) -> None:
    known = EvaluatedModel.objects.filter(name=values["name"]).first()
    if known is None:
        create(by=by, **values)
        loaded.created.append(values["name"])
    elif known.imported or any(getattr(known, name) != value for name, value in values.items()):
        update(model=known, by=by, **values, active=True if known.imported else known.active)
        loaded.updated.append(values["name"])
    else:
        loaded.unchanged.append(values["name"])


def _saved(model: EvaluatedModel) -> EvaluatedModel:
    """Save a model that its own rules and its provider accept."""
    providers.is_simulated(model.provider)  # refuses a provider that doesn't exist
    try:
        model.full_clean()
    except ValidationError as error:
        raise Invalid(f"{model.name or 'The model'}: {' '.join(error.messages)}") from error
    model.save()
    return model
