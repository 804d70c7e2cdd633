"""Models and detectors as their pages show them: what can be used, what is missing, what is simulated. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from benchmark.models import Detector, EvaluatedModel, Run
from fpco_site import env
from fpco_site.llm.endpoints import is_local, is_simulated, key_of, prices_of
from fpco_site.llm.providers.transformers import is_installed


def shipped() -> str:
    """The catalogue that ships: the study's models and detectors (paper, "Running models")."""
    return (env.BASE_DIR / "models.toml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class ModelEntry:
    """A model with what its row needs to know; `key_name` is the variable's name, never its value."""

    model: EvaluatedModel
    simulated: bool
    key_name: str
    key_present: bool
    runs: int

    @property
    def state(self) -> str:
        """imported, inactive, key_missing or active: the first that holds."""
        return _state(self.model, key_present=self.key_present)

    @property
    def usable(self) -> bool:
        return self.state == "active"

    @property
    def local(self) -> bool:
        """Whether it is asked on the machine that holds it."""
        return is_local(self.model.provider)

    @property
    def needs_extra(self) -> bool:
        """Whether it can be asked only on another machine, for this one lacks the extra."""
        return self.local and not is_installed()

    @property
    def prices(self) -> list[str]:
        return prices_of(self.model)


def _state(row: EvaluatedModel | Detector, *, key_present: bool) -> str:
    if row.imported:
        return "imported"
    if not row.active:
        return "inactive"
    return "active" if key_present else "key_missing"


def model_entries(rows: Iterable[EvaluatedModel]) -> list[ModelEntry]:
    """Entries of these models, in their order."""
    models = list(rows)
    counts = dict(Run.objects.filter(model__in=models).order_by().values_list("model").annotate(n=Count("pk")))
    return [_model_entry(model, counts.get(model.pk, 0)) for model in models]


def _model_entry(model: EvaluatedModel, runs: int) -> ModelEntry:
    name, present = key_of(model)
    return ModelEntry(model, is_simulated(model.provider), name, present, runs)


@dataclass(frozen=True)
class DetectorEntry:
    """One version of a detector with what its row needs to know."""

    detector: Detector
    key_name: str
    key_present: bool
    jobs: int

    @property
    def state(self) -> str:
        return _state(self.detector, key_present=self.key_present)

    @property
    def usable(self) -> bool:
        return self.state == "active"

    @property
    def prices(self) -> list[str]:
        return prices_of(self.detector)


def detector_entries(rows: QuerySet[Detector]) -> list[DetectorEntry]:
    """Entries of these detector versions, in their order."""
    found = []
    for detector in rows.annotate(asked=Count("jobs")):
        name, present = key_of(detector)
        found.append(DetectorEntry(detector, name, present, detector.asked))
    return found
