"""The study's table 3, lexical sensitivity, from the analysis of that name."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from benchmark.analyses import KINDS, digests
from benchmark.analyses.inputs import CLASSES, NAMES
from benchmark.analyses.kinds import Result
from benchmark.frames_variants import BOTH
from benchmark.models import ResultSet
from benchmark.printed import Printed, fixed
from benchmark.services import analyses

SLUG = "lexical"
MEAN = "Mean over models"
COLUMNS = (("A", "A"), ("B", "B"), (BOTH, "A and B"))


def lexical_table(result_set: ResultSet) -> Printed:
    """What the analysis gives by default and with its first seed, so that a stored one tells the same.

    Raises
    ------
    Invalid
        Where the dataset holds no variants, or nothing was labelled.
    """
    kind = KINDS[SLUG]
    given = analyses.settle(kind, result_set, {})
    inputs = kind.read(result_set, given)
    made = printed(digests.plain(kind.run(inputs, given, np.random.default_rng(analyses.SEED))))
    names = [row.model.name for row in result_set.held_runs]
    sources = [_sources(name, inputs.labels.last, row) for name, row in zip(names, made.rows, strict=False)]
    return replace(made, sources=[*sources, [""] * len(made.heads)])


def printed(result: Result) -> Printed:
    """The table of a result: rates of each class under A, B and both, and how many selections keep the ordering."""
    shares = {row["model"]: row for row in result["models"]}
    shares[MEAN] = {"share": result["share"]["value"], "share_interval": result["share"]["interval"]}
    models = list(dict.fromkeys(row["model"] for row in result["rates"] if row["model"] != MEAN))
    rows = [_row(result, model, shares[model]) for model in [*models, MEAN]]
    held = sum(row["holds"] is True for row in result["models"])
    of_images = f"{result['images']} image{'' if result['images'] == 1 else 's'}"
    left_out = f" {result['left_out']} images lack a variant and are left out." if result["left_out"] else ""
    keys = [*(f"{name}_{key.lower()}" for name in CLASSES for key, _ in COLUMNS), "share"]
    return Printed(
        name="lexical_sensitivity",
        caption=f"CorrTP@{result['k']} by class under the alternative substitutions A and B and under both, and the "
        f"share of {result['repetitions']:,} random selections that keep identity > attribute > location.",
        rows=rows,
        heads=["Model", *[head for _ in CLASSES for _, head in COLUMNS], "Share"],
        cells=[[row["model"], *(row[key] or "–" for key in keys)] for row in rows],
        groups=[("", 1), *((NAMES[name], len(COLUMNS)) for name in CLASSES), ("", 1)],
        notes=[
            f"{of_images}; a coin picks A or B for each {_coin(result)}; labels: {result['label']}.{left_out}",
            f"With A and B together the ordering holds strictly for {held} of {len(models)} models.",
        ],
    )


def _row(result: Result, model: str, kept: dict[str, Any]) -> dict[str, str]:
    found = {(row["class"], row["set"]): row for row in result["rates"] if row["model"] == model}
    line = {"model": model}
    for name in CLASSES:
        for key, _ in COLUMNS:
            cell = found[name, key]
            line |= {f"{name}_{key.lower()}": fixed(cell["value"]), f"{name}_{key.lower()}_n": str(cell["n"])}
    low, high = kept["share_interval"] or (None, None)
    return line | {
        "share": fixed(kept["share"]),
        "share_low": fixed(low),
        "share_high": fixed(high),
        "holds": "" if kept.get("holds") is None else "yes" if kept["holds"] else "no",
        "reason": kept.get("reason", ""),
    }


def _sources(model: str, k: int, row: dict[str, str]) -> list[str]:
    """What asks for the dialogues behind each cell of a model's row: behind the share are all of its variants."""
    asked = {"model": model, "measure": "corr_tp", "k": k}
    cells = [(name, key) for name in CLASSES for key, _ in COLUMNS]
    return [
        "",
        *(
            urlencode(asked | {"premise_class": name, "variant": key}) if row[f"{name}_{key.lower()}"] else ""
            for name, key in cells
        ),
        urlencode(asked | {"variant": BOTH}) if row["share"] else "",
    ]


def _coin(result: Result) -> str:
    return "image" if result["by"] == "image" else "class of each image"
