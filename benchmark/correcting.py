"""Which corrections of a rate are valid for how its human sample was drawn, and what each assumes. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.designs import Kind

POST_STRATIFIED, PPI, PPI_TUNED, ROGAN_GLADEN = "post_stratified", "ppi", "ppi_tuned", "rogan_gladen"
POOLED, PARTIAL = "pooled", "partial"
METHODS = {
    POST_STRATIFIED: "Post-stratified",
    PPI: "Prediction-powered",
    PPI_TUNED: "Prediction-powered, tuned",
    ROGAN_GLADEN: "Rogan-Gladen",
    POOLED: "One detector error for all (Rogan-Gladen)",
    PARTIAL: "Partially pooled",
}
BY_DETECTORS = (Kind.LABEL, Kind.DISAGREEMENT)

NOT_KNOWN = "how the set's answers were drawn is not known"
NO_PROBABILITIES = "how likely each answer was to be drawn is not known"
BIASED = (
    "the answers were drawn by what the detectors said, and how likely each was to be drawn is not known: unweighted, "
    "detectors look better or worse among them than they are"
)
POOL = (
    "the set is a pool: who labelled an answer is whoever came, so one person's labels are no random sample; take the "
    "adjudicated label as the truth"
)


@dataclass(frozen=True)
class Drawn:
    """What decides which corrections are valid.

    Attributes
    ----------
    kind : str
        The design (`designs.Kind`); blank where it is not known.
    each_detector : bool
        Whether one-sided answers were a stratum for each detector.
    weighted : bool
        Whether the inclusion probabilities are those of the design.
    by, pair : sequence of str
        The detectors by whose labels answers were drawn, and those that are corrected now.
    pool, one_person : bool
        Whether the set is a pool, and whether the truth is one person's labels.
    """

    kind: str
    each_detector: bool
    weighted: bool
    by: Sequence[str]
    pair: Sequence[str]
    pool: bool
    one_person: bool

    @property
    def by_detectors(self) -> bool:
        return self.kind in BY_DETECTORS


def refused(drawn: Drawn) -> dict[str, str]:
    """Why an estimator is not valid for this draw; those that are valid are not in it.

    Where answers were drawn by what the detectors said, each post-stratum lies within one stratum of the draw, so that
    the human rate in it needs no weights; everything else does.
    """
    if drawn.pool and drawn.one_person:
        return dict.fromkeys(METHODS, POOL)
    if not drawn.kind:
        return dict.fromkeys(METHODS, NOT_KNOWN)
    if drawn.by_detectors and list(drawn.by) != list(drawn.pair):
        return dict.fromkeys(
            METHODS,
            f"the answers were drawn by what {' and '.join(drawn.by) or 'other detectors'} said, not by what "
            f"{' and '.join(drawn.pair)} said",
        )
    if drawn.weighted:
        return {}
    if drawn.by_detectors:
        return {method: BIASED for method in METHODS if method != POST_STRATIFIED}
    return dict.fromkeys(METHODS, NO_PROBABILITIES)


def groups(drawn: Drawn, patterns: int) -> list[int]:
    """The stratum of the draw of each pattern: neither, second alone, first alone, both; all 0 for other designs."""
    if patterns == 4 and drawn.kind == Kind.DISAGREEMENT:
        return [0, 1, 1, 0]
    if patterns == 4 and drawn.kind == Kind.LABEL:
        return [0, 1, 2, 3] if drawn.each_detector else [0, 1, 1, 3]
    return [0] * patterns


ASSUMED = {
    POST_STRATIFIED: "nothing of the detectors: of answers of which they say the same, the labelled ones stand for all",
    PPI: "nothing of the detectors: how far people depart from them is measured on the sample and added",
    PPI_TUNED: "the same; the detectors count only as far as they go with people's labels",
    ROGAN_GLADEN: "that sensitivity and specificity are the same wherever the rate is taken",
    POOLED: "that all models' answers are judged with one sensitivity and one specificity",
    PARTIAL: "that models differ in how they are judged by chance, none known beforehand to differ (Morris 1983)",
}
