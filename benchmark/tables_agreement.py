"""Agreement as records, and as the study's two tables of it (2 and 4)."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from benchmark.frames_agreement import (
    FALSE,
    OVERALL,
    Frame,
    PairRow,
    Rater,
    accuracies,
    group_levels,
    groups,
    kappa_pairs,
)
from benchmark.printed import Printed, Table, as_csv, fixed
from benchmark.statistics.agreement import Agreement, Coefficient
from benchmark.statistics.agreement_many import Many
from benchmark.statistics.rates import Estimate

COEFFICIENTS = ("agreement", "kappa", "ac1", "pabak", "positive", "negative")
Record = dict[str, Any]

# Records: every number as it is, for the API and CSV -------------------------------------------------


def records(rows: Sequence[PairRow], axis: str = "premise_class") -> list[Record]:
    """Every pair at every level, one record each."""
    return [
        {
            "first": row.first.name,
            "second": row.second.name,
            "axis": axis,
            "level": level,
            "simulated": row.simulated,
            **flat(cell),
        }
        for row in rows
        for level, cell in row.levels.items()
    ]


def flat(cell: Agreement) -> Record:
    """One agreement as plain values; `reasons` says of each missing value or interval why."""
    named: Mapping[str, Coefficient] = {name: getattr(cell, name) for name in COEFFICIENTS}
    made: Record = {
        "n": cell.n,
        "left_out": cell.left_out.n,
        "first_missing": cell.left_out.first_missing,
        "second_missing": cell.left_out.second_missing,
        "both_missing": cell.left_out.both_missing,
        "images": cell.clusters,
        "both": cell.both,
        "first_only": cell.first_only,
        "second_only": cell.second_only,
        "neither": cell.neither,
        "first_rate": cell.first_rate,
        "second_rate": cell.second_rate,
    }
    for name, found in named.items():
        made |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    for name in ("kappa", "ac1"):
        found = named[name]
        made |= {f"{name}_asymptotic_low": found.asymptotic_low, f"{name}_asymptotic_high": found.asymptotic_high}
    made |= {"prevalence": cell.prevalence, "bias": cell.bias}
    return made | {"reasons": {name: found.reason for name, found in named.items() if found.reason}}


def group_records(found: Frame, axis: str = "premise_class") -> list[Record]:
    """Fleiss' kappa and Krippendorff's alpha of each group at each level."""
    return [
        {"group": group.key, "raters": [rater.name for rater in group.raters], "axis": axis, "level": level}
        | {"simulated": any(rater.simulated for rater in group.raters)}
        | _flat_many(cell)
        for group in groups(found)
        for level, cell in group_levels(found, group, axis).items()
    ]


def _flat_many(cell: Many) -> Record:
    made: Record = {
        "labels_wanted": cell.wanted,
        "fleiss_n": cell.n,
        "alpha_n": cell.paired,
        "same": cell.same,
        "split": cell.split,
        "fewer_than_two_labels": cell.short,
        "other_than_wanted": cell.other,
    }
    for name, found in (("fleiss", cell.fleiss), ("alpha", cell.alpha)):
        made |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    return made | {
        "reasons": {
            name: found.reason for name, found in (("fleiss", cell.fleiss), ("alpha", cell.alpha)) if found.reason
        }
    }


def accuracy_records(found: Frame, truth: Rater, axis: str = "premise_class") -> list[Record]:
    """Each detector's sensitivity and specificity against a truth at each level."""
    return [
        {"detector": detector.name, "truth": truth.name, "axis": axis, "level": level}
        | {"simulated": detector.simulated or truth.simulated, "n": cell.n, "left_out": cell.left_out}
        | _flat_rate("sensitivity", cell.sensitivity, cell.sensitivity_plain, cell.found)
        | _flat_rate("specificity", cell.specificity, cell.specificity_plain, cell.left_alone)
        for detector, levels in accuracies(found, truth, axis)
        for level, cell in levels.items()
    ]


def _flat_rate(name: str, rate: Estimate, plain: Estimate, hits: int) -> Record:
    return {
        name: rate.value,
        f"{name}_low": rate.low,
        f"{name}_high": rate.high,
        f"{name}_independent_low": plain.low,
        f"{name}_independent_high": plain.high,
        f"{name}_n": rate.n,
        f"{name}_hits": hits,
        f"{name}_reason": rate.reason,
    }


def records_csv(rows: Sequence[Record]) -> str:
    """Records as CSV with every digit; reasons and lists as one text."""
    return as_csv([{name: _text(value) for name, value in row.items()} for row in rows])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {text}" for name, text in value.items())
    if isinstance(value, list):
        return "; ".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# The study's two tables ------------------------------------------------------------------------------


NO_VALUE = "undefined"
_INTERVALS = "In brackets: 95 % intervals from a bootstrap that draws images."
_SIMULATED = " Some of these labels are simulated."


def kappa_table(found: Frame) -> Printed:
    """Pairwise kappa on the labelled answers, overall and by class (the study's table of human validation)."""
    rows = kappa_pairs(found)
    levels = list(rows[0].levels) if rows else [OVERALL]
    table: Table = []
    for row in rows:
        line = {"first": row.first.name, "second": row.second.name, "simulated": _text(row.simulated)}
        for level, cell in row.levels.items():
            line |= {
                f"{level}_kappa": fixed(cell.kappa.value),
                f"{level}_low": fixed(cell.kappa.low),
                f"{level}_high": fixed(cell.kappa.high),
                f"{level}_agreement": fixed(cell.agreement.value),
                f"{level}_n": str(cell.n),
                f"{level}_left_out": str(cell.left_out.n),
                f"{level}_reason": cell.kappa.reason,
            }
        table.append(line)
    shared = {level: {row.levels[level].n for row in rows} for level in levels}
    one_n = {level: ns.pop() for level, ns in shared.items() if len(ns) == 1}
    ns = {level: f" (n = {one_n[level]})" if level in one_n else "" for level in levels}
    heads = ["Pair", *(f"{level.capitalize()}{n}" for level, n in ns.items())]
    cells = [
        [f"{row.first.name} – {row.second.name}", *(_kappa_cell(row.levels[x], x not in one_n) for x in levels)]
        for row in rows
    ]
    turns = "" if found.premise == FALSE else " to turns with a correct premise"
    caption = f"Cohen's kappa of each pair of raters on the labelled answers{turns}, overall and by class. {_INTERVALS}"
    caption += _SIMULATED if any(row.simulated for row in rows) else ""
    name = "pairwise_kappa" if found.premise == FALSE else "pairwise_kappa_correct"
    premise = {"premise": found.premise}
    sources = [["", *(_source(row, level, "shared", **premise) for level in levels)] for row in rows]
    return Printed(name, caption, table, heads, cells, notes=_reasons(rows), sources=sources)


def _source(row: PairRow, level: str, cell: str, **more: str) -> str:
    """What asks for the answers of a pair at a level."""
    return urlencode({"first": row.first.key, "second": row.second.key, **more, "level": level, "cell": cell})


def _reasons(rows: Sequence[PairRow]) -> list[str]:
    """Why a kappa or its interval is missing, each reason once."""
    told = dict.fromkeys(cell.kappa.reason for row in rows for cell in row.levels.values() if cell.kappa.reason)
    return [f"{reason[0].upper()}{reason[1:]}." for reason in told]


def _kappa_cell(cell: Agreement, with_n: bool) -> str:
    n = f" (n = {cell.n})" if with_n else ""
    if cell.kappa.value is None:
        return f"undefined{n}"
    return f"{fixed(cell.kappa.value)}{_brackets(cell.kappa)}{n}"


def _brackets(found: Coefficient) -> str:
    return "" if found.low is None else f" [{fixed(found.low)}, {fixed(found.high)}]"


def detector_table(row: PairRow) -> Printed:
    """Two detectors on all false-premise answers, by class and overall (the study's table of detector agreement)."""
    first, second = row.first.name, row.second.name
    table = [_detector_line(row, level) for level in row.levels]
    heads = ["Class", "n", first, second, "Agreement", "Kappa", "Both", "Neither", f"{first} only", f"{second} only"]
    cells = [
        [
            line["level"].capitalize(),
            f"{cell.n:,}",
            line["first_rate"],
            line["second_rate"],
            line["agreement"],
            _kappa_cell(cell, False),
            f"{cell.both:,}",
            f"{cell.neither:,}",
            f"{cell.first_only:,}",
            f"{cell.second_only:,}",
        ]
        for line, cell in zip(table, row.levels.values(), strict=True)
    ]
    caption = (
        f"Agreement of {first} and {second} on all answers to false-premise turns: correction rate of each, share of "
        f"equal labels, Cohen's kappa, and answers by who saw a correction. {_INTERVALS}"
        f"{_SIMULATED if row.simulated else ''}"
    )
    missing = row.levels[OVERALL].left_out.n
    gaps = [f"{missing:,} planned answers without a label of either detector are left out."] if missing else []
    behind = (*["shared"] * 5, "both", "neither", "first_only", "second_only")
    sources = [["", *(_source(row, level, cell) for cell in behind)] for level in row.levels]
    notes = [*gaps, *_reasons([row])]
    return Printed("detector_agreement", caption, table, heads, cells, notes=notes, sources=sources)


def _detector_line(row: PairRow, level: str) -> dict[str, str]:
    cell = row.levels[level]
    return {
        "level": level,
        "first": row.first.name,
        "second": row.second.name,
        "simulated": _text(row.simulated),
        "n": str(cell.n),
        "left_out": str(cell.left_out.n),
        "first_rate": fixed(cell.first_rate),
        "second_rate": fixed(cell.second_rate),
        "agreement": fixed(cell.agreement.value),
        "kappa": fixed(cell.kappa.value),
        "kappa_low": fixed(cell.kappa.low),
        "kappa_high": fixed(cell.kappa.high),
        "both": str(cell.both),
        "neither": str(cell.neither),
        "first_only": str(cell.first_only),
        "second_only": str(cell.second_only),
        "kappa_reason": cell.kappa.reason,
    }


def accuracy_table(found: Frame, truth: Rater) -> Printed:
    """Each detector's sensitivity and specificity against a truth, overall and by class."""
    rows = accuracy_records(found, truth)
    return Printed(
        name="detectors_against_people",
        caption=f"Detectors against {truth.name}: of the answers in which {truth.name} sees a correction, the share in "
        "which the detector does (sensitivity); of the others, the share in which it sees none (specificity). In "
        "brackets: 95 % intervals that respect images.",
        rows=[{name: _text(value) for name, value in row.items()} for row in rows],
        heads=["Detector", "Class", "Sensitivity", "n", "Specificity", "n"],
        cells=[
            [
                row["detector"],
                row["level"].capitalize(),
                *_rate_cells(row, "sensitivity"),
                *_rate_cells(row, "specificity"),
            ]
            for row in rows
        ],
        words=2,
        by_first=True,
    )


def _rate_cells(row: Record, name: str) -> list[str]:
    if row[name] is None:
        return [NO_VALUE, str(row[f"{name}_n"])]
    return [
        f"{fixed(row[name])} [{fixed(row[f'{name}_low'])}, {fixed(row[f'{name}_high'])}]",
        str(row[f"{name}_n"]),
    ]
