"""Label masks straight from a checked release, so that its tables can be made without a database."""

import numpy as np
from numpy.typing import NDArray

from benchmark.frames import BREAKDOWNS, DetectorColumn, Masks, ModelRow
from benchmark.frames_patterns import image_name, numbered
from benchmark.releases.reading import Checked

_PAIR = 2


def masks(found: Checked) -> Masks:
    """All labels of the release as `frames.masks` gives them for a result set."""
    known = found.manifest.get("detectors") or []
    order = [row["slug"] for row in known if row["slug"] in found.detectors]
    order += [slug for slug in found.detectors if slug not in order]
    primary = {row["slug"]: bool(row.get("primary", True)) for row in known}
    labelled, correction = _fill(found, order)
    return Masks(
        models=[ModelRow(name, family, 0, False, True, "complete") for name, family in found.models.items()],
        detectors=[
            DetectorColumn(slug, slug, primary.get(slug, index < _PAIR), False) for index, slug in enumerate(order)
        ],
        items=list(range(len(found.items))),
        places={axis: np.array([getattr(row, axis) for row in found.items], dtype=np.str_) for axis in BREAKDOWNS},
        images=numbered([image_name(row.sha256, row.parent, row.item) for row in found.items]),
        labelled=labelled,
        correction=correction,
        turns=found.turns,
        false_turns=tuple(found.false_turns),
    )


def _fill(found: Checked, order: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    shape = (len(found.models), len(order), len(found.items))
    labelled, correction = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    if not found.label_response:
        return labelled, correction
    model, item, turn = _where(found)
    column = np.array([order.index(slug) for slug in found.detectors])
    response = np.frombuffer(found.label_response, dtype=np.int32)
    at = (model[response], column[np.frombuffer(found.label_detector, dtype=np.int8)], item[response])
    bit = np.left_shift(np.int64(1), turn[response])
    np.bitwise_or.at(labelled, at, bit)
    np.bitwise_or.at(correction, at, np.where(np.frombuffer(found.label_detect, dtype=np.int8) != 0, bit, 0))
    return labelled, correction


def _where(found: Checked) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each response its model, item and turn, all from 0."""
    model, item, turn = (np.zeros(found.responses, dtype=np.int64) for _ in range(3))
    for index, place in enumerate(found.place):
        numbers = np.frombuffer(place, dtype=np.int32)
        at = np.flatnonzero(numbers >= 0)
        response = numbers[at]
        model[response], item[response], turn[response] = index, at // found.turns, at % found.turns
    return model, item, turn
