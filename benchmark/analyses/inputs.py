"""What most analyses read: all labels of a result set as arrays, with names and places."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark import frames
from benchmark.models import ResultSet
from benchmark.statistics.patterns import ItemCounts, by_image, mean_item_counts, window
from benchmark.statistics.rates import COVERED_IMAGES, Estimate
from fpco_site.errors import Invalid

MEAN = "mean"
CLASSES = ("identity", "attribute", "location")
NAMES = {name: name.capitalize() for name in CLASSES}
CLUSTERED = (
    "Intervals are 95 % and clustered by image: Wilson's at the effective sample size (doi:10.1093/jssam/smz006)."
)


@dataclass(frozen=True)
class Labels:
    """All labels of a result set: `labelled` and `correction` have shape (model, detector, item).

    `models` are names as figures and tables show them, with "(simulated)" where nothing real answered. `primary` are
    the positions of the detectors whose mean is the main label, `images` a number for each item's image. Bit t-1 of a
    mask stands for turn t.
    """

    models: list[str]
    families: list[str]
    detectors: list[str]
    detector_names: list[str]
    primary: list[int]
    places: dict[str, NDArray[np.str_]]
    images: NDArray[np.int64]
    labelled: NDArray[np.int64]
    correction: NDArray[np.int64]
    turns: int
    false_turns: list[int]
    true_turns: list[int]

    @property
    def last(self) -> int:
        """The last false-premise turn, 10 in the study."""
        return self.false_turns[-1]

    def chosen(self, label: str) -> list[int]:
        """The detectors behind a label: the primary pair for the mean, else the one of this slug."""
        return self.primary if label == MEAN else [self.detectors.index(label)]

    def counts(self, detectors: list[int], windows: list[int], keep: NDArray[np.bool_] | None = None) -> ItemCounts:
        """Labels of each image in each window, the mean of these detectors; shape (model, window, image)."""
        kept = np.ones(len(self.images), dtype=bool) if keep is None else keep
        counts = mean_item_counts(
            [self.labelled[:, one][:, kept] for one in detectors],
            [self.correction[:, one][:, kept] for one in detectors],
            windows,
        )
        return by_image(counts, self.images[kept])

    def false_window(self) -> int:
        """All false-premise turns: the window of CorrTP at the last cutoff."""
        return window(self.false_turns)

    def true_window(self) -> int:
        """All premise-correct turns: the window of CorrFP at the last cutoff."""
        return window(self.true_turns)

    def of_class(self, name: str) -> NDArray[np.bool_]:
        """Which items are of this premise class."""
        kept: NDArray[np.bool_] = self.places["premise_class"] == name
        return kept


def read(result_set: ResultSet) -> Labels:
    """Every label of the result set. Raises Invalid where there is no model or no detector."""
    found = frames.masks(result_set)
    if not found.models or not found.detectors:
        raise Invalid("Nothing can be analysed before a model has run over the dataset and a detector was asked.")
    return Labels(
        models=[f"{row.name} (simulated)" if row.simulated else row.name for row in found.models],
        families=[row.family for row in found.models],
        detectors=[row.slug for row in found.detectors],
        detector_names=[row.name for row in found.detectors],
        primary=found.primary,
        places=found.places,
        images=found.images,
        labelled=found.labelled,
        correction=found.correction,
        turns=found.turns,
        false_turns=list(found.false_turns),
        true_turns=list(found.true_turns),
    )


def label_choices(result_set: ResultSet) -> dict[str, list[tuple[str, str]]]:
    """Whose labels an analysis may rest on: the mean of the primary pair, or one detector alone."""
    detectors = [row.detector for row in result_set.held_detectors]
    return {"label": [(MEAN, "mean of the primary detectors"), *((one.slug, str(one)) for one in detectors)]}


def label_words(found: Labels, label: str) -> str:
    """Whose labels these are, for a sentence."""
    names = [found.detector_names[at] for at in found.chosen(label)]
    return f"the mean of {' and '.join(names)}" if len(names) > 1 else names[0]


def few(images: int) -> str:
    """A sentence where intervals rest on few images; empty where simulations found that they hold."""
    if images >= COVERED_IMAGES:
        return ""
    return f" Of {images} images alone, intervals may cover less than they say."


def one(counts: ItemCounts, *at: int) -> ItemCounts:
    """The counts of one model (and window)."""
    return ItemCounts(counts.n[at], counts.corrections[at])


def estimate(prefix: str, found: Estimate) -> dict[str, Any]:
    """An estimate as the columns of a row: its value, its interval and its n; None where undefined."""
    interval = None if found.low is None else [found.low, found.high]
    return {prefix: found.value, f"{prefix}_interval": interval, f"{prefix}_n": found.n}
