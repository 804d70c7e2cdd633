"""The study's tables 2 to 7 of a result set, by slug: each is made, or says in a sentence why it can't be."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from benchmark import frames, frames_agreement, frames_detectors, tables, tables_agreement, tables_lexical
from benchmark.frames_detectors import Verdicts
from benchmark.models import ResultSet, ValidationSet
from benchmark.printed import Printed
from benchmark.tables import PAIR, Rounding
from fpco_site.errors import Invalid


@dataclass(frozen=True)
class Entry:
    """A table of the study: the number it has in the paper, its name, and what it tells."""

    number: int
    slug: str
    title: str
    says: str
    unblinded: bool = False


ENTRIES = {
    entry.slug: entry
    for entry in (
        Entry(2, "pairwise_kappa", "Human validation", "How far people and detectors agree on drawn answers.", True),
        Entry(3, "lexical_sensitivity", "Lexical sensitivity", "Rates under other words, from a dataset of variants."),
        Entry(4, "detector_agreement", "Detector agreement", "How far two detectors agree on all answers."),
        Entry(5, "corr_tp", "CorrTP@K", "Corrections of false premises, up to each turn."),
        Entry(6, "turn_corr", "TurnCorr@K", "Corrections of false premises at each turn."),
        Entry(7, "corr_fp", "CorrFP@K", "Needless corrections, up to each turn with a correct premise."),
    )
}


@dataclass(frozen=True)
class Study:
    """A result set and a choice for its tables; what they share is read once."""

    result_set: ResultSet
    validation_set: ValidationSet | None = None
    rounding: Rounding = "exact"

    @cached_property
    def verdicts(self) -> Verdicts:
        return frames_detectors.verdicts(self.result_set)

    @property
    def masks(self) -> frames.Masks:
        return self.verdicts.masks

    def table(self, slug: str) -> Printed:
        """One of `ENTRIES`.

        Raises
        ------
        Invalid
            With the reason, where it can't be made.
        """
        return _MAKERS[slug](self)


def sets(result_set: ResultSet) -> QuerySet[ValidationSet]:
    """The validation sets over the dataset, the newest first."""
    rows = ValidationSet.objects.filter(label_set__dataset=result_set.dataset_id)
    return rows.select_related("label_set__dataset", "result_set").order_by("-id")


def _kappas(study: Study) -> Printed:
    if study.validation_set is None:
        raise Invalid("There is no validation set to tabulate: none has been drawn, or its labels are not final yet.")
    made = tables_agreement.kappa_table(frames_agreement.frame(study.validation_set))
    if not made.rows:
        raise Invalid("There are not two raters to compare in this validation set.")
    return made


def _detectors(study: Study) -> Printed:
    found = study.verdicts
    if len(found.detectors) < PAIR:
        raise Invalid("Two detectors are needed to compare; this result set has no pair.")
    first, second = [found.detectors[at] for at in found.masks.primary][:PAIR]
    return tables_agreement.detector_table(frames_detectors.pair(found, first, second))


def _measure(measure: str) -> Callable[[Study], Printed]:
    return lambda study: tables.measure_table(study.masks, measure, study.rounding)


_MAKERS: dict[str, Callable[[Study], Printed]] = {
    "pairwise_kappa": _kappas,
    "lexical_sensitivity": lambda study: tables_lexical.lexical_table(study.result_set),
    "detector_agreement": _detectors,
    **{measure: _measure(measure) for measure in frames.MEASURES},
}
