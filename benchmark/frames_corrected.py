"""From a validation set to what corrected rates are made of: people's truth of the drawn answers, and all answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotate.models.labels import LabelSetState, Mode
from benchmark import correcting, designs, frames_agreement, frames_detectors
from benchmark.correcting import Drawn
from benchmark.frames_agreement import CORRECT, DECIDED, FALSE, HUMAN, Frame, Rater
from benchmark.frames_detectors import Verdicts
from benchmark.models import ResultSet, ValidationSet
from benchmark.statistics.bootstrap import by_cluster
from benchmark.statistics.corrected import Layout, Sample
from benchmark.statistics.patterns import window
from fpco_site.errors import Invalid

type Bits = NDArray[np.int64]
CLOSE = 0.01  # by how much a stored probability may differ from the design's, relatively


@dataclass(frozen=True)
class Reading:
    """Answers to questions with one kind of premise: those that people labelled, and all that both detectors labelled.

    Attributes
    ----------
    counts : ndarray of int, shape (model, item, pattern)
        All answers by what the detectors said: neither, second alone, first alone, both; of one detector no, yes.
    images, classes : ndarray, shape (item,)
        The image and the premise class of each item.
    truth, patterns, models, places, of_images, weights : ndarray, shape (label,)
        What people say of the drawn answers that count, what the detectors said, which model answered, the premise
        class, the image, and 1 / inclusion probability.
    drawn, undecided, unlabelled, undetected : int
        Answers that were drawn; left out because people differ and nothing was decided, because too few people
        labelled them, and because a detector did not.
    unseen : int
        Answers of the population that a detector did not label; they are in no count.
    """

    counts: NDArray[np.int64]
    images: NDArray[np.int64]
    classes: NDArray[np.str_]
    truth: NDArray[np.float64]
    patterns: NDArray[np.int64]
    models: NDArray[np.int64]
    places: NDArray[np.str_]
    of_images: NDArray[np.int64]
    weights: NDArray[np.float64]
    drawn: int
    undecided: int
    unlabelled: int
    undetected: int
    unseen: int

    @property
    def sample(self) -> Sample:
        return Sample(self.truth, self.patterns, self.weights, self.of_images)

    def population(
        self, models: NDArray[np.bool_] | None = None, items: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Answers of these models to these items, of all by default, by image and pattern, and which images."""
        kept = self.counts[slice(None) if models is None else models].sum(axis=0)
        chosen = np.ones(len(self.images), dtype=np.bool_) if items is None else items
        return by_cluster(kept[chosen], self.images[chosen]), np.unique(self.images[chosen])


@dataclass(frozen=True)
class Study:
    """All that corrected rates of a validation set rest on. `correct` is None where nobody labelled correct turns.

    `named` counts answers that could not be drawn because they name a model; `k` is the last false-premise turn.
    """

    validation_set: str
    result_set: str
    truth: str
    models: list[str]
    families: list[str]
    detectors: list[str]
    drawn: Drawn
    named: int
    frame: int
    simulated: bool
    k: int
    correct_turns: list[int]
    false: Reading
    correct: Reading | None

    def layout(self, *, premise: str = FALSE) -> Layout:
        """What the patterns are; answers to correct turns were drawn by model, whatever the design."""
        scores = np.array([0.0, 0.5, 0.5, 1.0] if len(self.detectors) > 1 else [0.0, 1.0])
        drawn = self.drawn if premise == FALSE else replace(self.drawn, kind=designs.Kind.RANDOM)
        return Layout(scores, np.array(correcting.groups(drawn, len(scores)), dtype=np.int64))


def closed_sets(result_set: ResultSet) -> list[ValidationSet]:
    """The closed validation sets of a dataset, those of this result set first, the newest first."""
    found = ValidationSet.objects.filter(
        result_set__dataset=result_set.dataset_id, label_set__state=LabelSetState.CLOSED
    ).select_related("label_set__dataset", "result_set__dataset")
    return sorted(found, key=lambda row: (row.result_set_id == result_set.pk, row.pk), reverse=True)


def study(validation_set: ValidationSet, *, truth: str) -> Study:
    """Read a closed validation set and all answers that it was drawn from.

    Parameters
    ----------
    validation_set : ValidationSet
        Closed.
    truth : str
        Whose labels are the truth: a rater's key, such as `adjudicated` or `human-1`.

    Raises
    ------
    Invalid
        If there is no such rater, or no detector to correct.
    """
    frame = frames_agreement.frame(validation_set)
    chosen = frame.by_key.get(truth)
    if chosen is None or chosen.kind not in (HUMAN, DECIDED):
        raise Invalid(f"Nobody labelled {validation_set.label_set.name} whose labels could be the truth as {truth!r}.")
    found = frames_detectors.verdicts(validation_set.result_set)
    if not found.masks.primary:
        raise Invalid("No detector counts in the set's results, so there is no rate to correct.")
    pair = found.masks.primary[:2]
    correct = frames_agreement.frame(validation_set, premise=CORRECT) if frame.others else None
    design, naming = validation_set.design, validation_set.design.get("naming") or {}
    return Study(
        validation_set=validation_set.label_set.name,
        result_set=validation_set.result_set.name,
        truth=chosen.name,
        models=[f"{row.name} (simulated)" if row.simulated else row.name for row in found.masks.models],
        families=[row.family for row in found.masks.models],
        detectors=[found.masks.detectors[at].name for at in pair],
        drawn=Drawn(
            kind=str(design.get("kind") or ""),
            each_detector=bool((design.get("plan") or {}).get("each_detector")),
            weighted=_weighted(validation_set),
            by=list(design.get("detectors") or []),
            pair=[found.masks.detectors[at].slug for at in pair],
            pool=validation_set.label_set.mode == Mode.POOL,
            one_person=chosen.kind == HUMAN,
        ),
        named=int(naming.get("found") or 0) if naming.get("rule") == designs.Naming.REPLACE else 0,
        frame=int(design.get("frame") or 0),
        simulated=frame.simulated,
        k=found.masks.false_turns[-1],
        correct_turns=list(found.masks.true_turns),
        false=_reading(found, frame, chosen, pair, found.masks.false_turns),
        correct=None
        if correct is None
        else _reading(found, correct, correct.by_key[truth], pair, found.masks.true_turns),
    )


def _weighted(validation_set: ValidationSet) -> bool:
    """Whether the stored probabilities are those that the design gives each stratum."""
    cells = validation_set.design.get("cells") or []
    known = {" / ".join(cell["stratum"]): float(cell["probability"]) for cell in cells}
    stored = validation_set.items.values_list("stratum", "inclusion_probability").distinct()
    return bool(known) and all(
        stratum in known and abs(told - known[stratum]) <= CLOSE * known[stratum] for stratum, told in stored
    )


def _reading(found: Verdicts, frame: Frame, truth: Rater, pair: Sequence[int], turns: Sequence[int]) -> Reading:
    masks = found.masks
    chosen = [frame.of_kind(frames_agreement.DETECTOR)[at].labels for at in pair]
    seen = np.logical_and.reduce([labels >= 0 for labels in chosen])
    kept = seen & (truth.labels >= 0)
    patterns = chosen[0] if len(pair) == 1 else 2 * chosen[0] + chosen[1]
    place = {model.name: at for at, model in enumerate(masks.models)}
    without = truth.labels < 0
    counts, unseen = _counts(found, pair, window(turns))
    return Reading(
        counts=counts,
        images=found.images,
        classes=masks.places["premise_class"],
        truth=truth.labels[kept].astype(np.float64),
        patterns=patterns[kept].astype(np.int64),
        models=np.array([place[name] for name in frame.places["model"][kept].tolist()], dtype=np.int64),
        places=frame.places["premise_class"][kept],
        of_images=frame.images[kept],
        weights=1 / frame.probabilities[kept],
        drawn=frame.n,
        undecided=int((without & _differ(frame)).sum()) if truth.kind == DECIDED else 0,
        unlabelled=int((without & ~_differ(frame)).sum()) if truth.kind == DECIDED else int(without.sum()),
        undetected=int((~without & ~seen).sum()),
        unseen=unseen,
    )


def _differ(frame: Frame) -> NDArray[np.bool_]:
    """The answers on which people differ."""
    labels = np.stack([rater.labels for rater in frame.of_kind(HUMAN)])
    differ: NDArray[np.bool_] = (labels == 1).any(axis=0) & (labels == 0).any(axis=0)
    return differ


def _counts(found: Verdicts, pair: Sequence[int], turns: int) -> tuple[NDArray[np.int64], int]:
    """All answers by model, item and pattern, and how many of those that one detector labelled the other did not."""
    seen = [found.masks.labelled[:, at] & turns for at in pair]
    yes = [found.masks.correction[:, at] for at in pair]
    both: Bits = np.bitwise_and.reduce(seen)
    some: Bits = np.bitwise_or.reduce(seen)
    if len(pair) == 1:
        cells = [both & ~yes[0], both & yes[0]]
    else:
        cells = [both & ~yes[0] & ~yes[1], both & ~yes[0] & yes[1], both & yes[0] & ~yes[1], both & yes[0] & yes[1]]
    counts = np.stack([np.bitwise_count(cell).astype(np.int64) for cell in cells], axis=-1)
    return counts, int(np.bitwise_count(some & ~both).sum())
