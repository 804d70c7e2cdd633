"""Corrected rates in words, tables and a figure, from a stored result."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmark.analyses.inputs import NAMES
from benchmark.analyses.kinds import Column, Result, Section
from benchmark.charts.beside import Beside, beside
from benchmark.correcting import ASSUMED, METHODS, PARTIAL, POOLED, PPI_TUNED
from benchmark.designs import Kind as Design

type Row = dict[str, Any]

DRAWN = {
    Design.MODEL_CLASS: "by model and class",
    Design.RANDOM: "at random from all",
    Design.LABEL: "by what the detectors said",
    Design.DISAGREEMENT: "by whether the detectors disagree",
}
LEFT_OUT = {
    "undecided": "have no truth, because people differ and nothing was decided",
    "unlabelled": "have no truth, because too few people labelled them",
    "undetected": "lack a detector's label",
}
THREE = {
    "raw": "Detectors",
    "pooled": "One error for all",
    "partial": "Partially pooled",
    "own": "Own labels alone (tuned)",
}
ESTIMATE = [
    Column("value", "Corrected", "rate"),
    Column("interval", "95 % interval", "interval"),
    Column("n", "Human labels", "count"),
    Column("halve", "More labels to halve it"),
    Column("said", "What to know"),
]


def sections(result: Result) -> list[Section]:
    return [
        _what(result),
        _overall(result),
        _error(result),
        _classes(result),
        _models(result),
        _every(result),
        _correct(result),
    ]


def _what(result: Result) -> Section:
    lines = [
        f"The detectors ({' and '.join(result['detectors'])}) err. People labelled {result['drawn']:,} answers of the "
        f"set {result['set']}, drawn {DRAWN.get(result['design'], 'in a way that is not known')}; with them the rate "
        f"over all {result['answers']:,} answers to false-premise turns is corrected. The target is the rate that "
        f"people would find if they labelled every answer. What counts as the truth: {_truth(result['truth'])}.",
        _left_out(result),
        _named(result),
        "Some of these labels are simulated: the numbers show how the method works and say nothing of people."
        if result["simulated"]
        else "",
    ]
    rows = [
        {"method": name, "valid": method not in result["refused"], "said": _assumed(result, method)}
        for method, name in METHODS.items()
    ]
    return Section(
        "What this rests on",
        "\n\n".join(line for line in lines if line),
        [
            Column("method", "Correction"),
            Column("valid", "Valid here"),
            Column("said", "It assumes, or why it is not valid"),
        ],
        rows,
    )


def _truth(name: str) -> str:
    if name == "Adjudicated":
        return "what annotators agree on, and where they differ what was decided"
    return f"the labels of {name} alone"


def _assumed(result: Result, method: str) -> str:
    return str(result["refused"].get(method, ASSUMED[method]))


def _left_out(result: Row) -> str:
    """What was left out and why, and which way that leans."""
    left = {why: result[key] for key, why in LEFT_OUT.items() if result[key]}
    told = [f"{count:,} {why}" for why, count in left.items()]
    words = f"Of the {result['drawn']:,} drawn answers {result['n']:,} count"
    words += f"; {'; '.join(told)}." if told else ", none is left out."
    if result["undecided"]:
        words += " Answers on which people differ are the hard ones: without them detectors look better than they are."
    if result["unseen"]:
        words += f" {result['unseen']:,} further answers have one detector's label alone and are in no number."
    return words


def _named(result: Result) -> str:
    if not result["named"]:
        return ""
    return (
        f"{result['named']:,} of the {result['frame']:,} answers of the frame name a model and could not be drawn; "
        "they are taken to be judged like the others."
    )


def _overall(result: Result) -> Section:
    rows = [_shown(row) for row in result["overall"]]
    first = result["overall"][0]
    seen = _rate(first["raw"], first["raw_interval"])
    words = f"CorrTP@{result['k']} as the detectors see it: {seen} over {first['raw_n']:,} answers."
    best = next((row for row in result["overall"] if row["value"] is not None), None)
    if best is None or first["raw"] is None:
        words += " It can't be corrected here; the table says why."
    else:
        words += (
            f" {METHODS[best['method']]}, it is {_rate(best['value'], best['interval'])}: people find "
            f"{_points(best['value'] - first['raw'])}. {_agrees(best, first)}"
        )
    title = f"CorrTP@{result['k']}"
    detectors = _drawn("All answers", "Detectors", first["raw"], first["raw_interval"], first["raw_n"])
    drawn = [
        _drawn("All answers", METHODS[row["method"]], row["value"], row["interval"], row["n"])
        for row in result["overall"]
    ]
    figure = beside([detectors, *drawn], metric=title)
    return Section(f"All answers, {title}", words, [Column("method", "Correction"), *ESTIMATE], rows, figure)


def _drawn(name: str, estimate: str, value: float | None, interval: Sequence[float] | None, n: int) -> Beside:
    low, high = interval or (None, None)
    return {"name": name, "estimate": estimate, "value": value, "low": low, "high": high, "n": n}


def _agrees(best: Row, first: Row) -> str:
    low, high = best["interval"]
    if low <= first["raw"] <= high:
        return "The detectors' own rate lies within the corrected interval."
    return "The detectors' own rate lies outside of the corrected interval."


def _points(difference: float) -> str:
    size = f"{100 * abs(difference):.2f} points"
    return (
        f"{size} more than the detectors"
        if difference > 0
        else f"{size} fewer than the detectors"
        if difference < 0
        else "as much as the detectors"
    )


def _rate(value: float | None, interval: Sequence[float] | None) -> str:
    if value is None or interval is None:
        return "undefined"
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


def _error(result: Result) -> Section:
    return Section(
        "How well the detectors' mean label does",
        "Sensitivity: the mean label of answers in which people see a correction. Specificity: one minus the mean "
        "label of the others. Weighted to all answers by how likely each was to be drawn.",
        [
            Column("name", ""),
            Column("value", "Estimate", "rate"),
            Column("interval", "95 % interval", "interval"),
            Column("n", "Human labels", "count"),
            Column("said", "What to know"),
        ],
        [row | {"said": row["reason"] or row["caution"]} for row in result["error"]],
    )


def _classes(result: Result) -> Section:
    return Section(
        "By premise class",
        "Each class by its own human labels, beside the detectors' rate. Three classes are too few to pool in part: "
        "how classes differ can't be told from three.",
        [
            Column("level", "Class"),
            Column("raw", "Detectors", "rate"),
            Column("method", "Correction"),
            *ESTIMATE,
        ],
        [_shown(row) | {"level": NAMES.get(row["level"], row["level"])} for row in result["classes"]],
    )


def _models(result: Result) -> Section:
    rows = []
    for name, of in _grouped(result["models"]):
        found = {row["method"]: row for row in of}
        rows.append(
            {
                "model": name,
                "raw": of[0]["raw"],
                "raw_interval": of[0]["raw_interval"],
                "raw_n": of[0]["raw_n"],
                **_pair("pooled", found[POOLED]),
                **_pair("partial", found[PARTIAL]),
                "own_weight": found[PARTIAL]["tuning"],
                **_pair("own", found[PPI_TUNED]),
                "reason": "; ".join(
                    dict.fromkeys(found[key]["reason"] for key in (POOLED, PARTIAL, PPI_TUNED) if found[key]["reason"])
                ),
            }
        )
    rows.sort(key=lambda row: (row["raw"] is None, -(row["raw"] or 0), row["model"]))
    few = max((row["own_n"] for row in rows), default=0)
    drawn = [
        _drawn(row["model"], name, row[key], row[f"{key}_interval"], row[f"{key}_n"])
        for row in rows
        for key, name in THREE.items()
    ]
    return Section(
        f"By model, CorrTP@{result['k']}",
        f"A model has at most {few:,} human labels, so three answers stand beside each other. One error for all: "
        "every model is judged with the sensitivity and specificity of all labels together; precise, and wrong for a "
        "model that is judged otherwise. Partially pooled: moved from there towards the model's own labels, as far as "
        "models differ by more than chance; its intervals cover 95 % in the mean over the models, not for each. Own "
        "labels alone: assumes nothing of other models, and is wide. Where the three tell one story, so can you.",
        [
            Column("model", "Model"),
            Column("raw", "Detectors", "rate"),
            Column("raw_interval", "95 % interval", "interval"),
            Column("pooled", "One error for all", "rate"),
            Column("pooled_interval", "95 % interval", "interval"),
            Column("partial", "Partially pooled", "rate"),
            Column("partial_interval", "95 % interval", "interval"),
            Column("own_weight", "Weight of own labels", "number", 2),
            Column("own", "Own labels alone (tuned)", "rate"),
            Column("own_interval", "95 % interval", "interval"),
            Column("own_n", "Own labels", "count"),
        ],
        rows,
        beside(drawn, metric=f"CorrTP@{result['k']}"),
    )


def _pair(name: str, row: Row) -> Row:
    return {name: row["value"], f"{name}_interval": row["interval"], f"{name}_n": row["n"]}


def _grouped(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["level"], []).append(row)
    return list(found.items())


def _every(result: Result) -> Section:
    return Section(
        "Every model, every correction",
        "With the human labels that would halve each interval if they said the same: of each model, or of all models "
        "together where one error serves for all.",
        [
            Column("level", "Model"),
            Column("raw", "Detectors", "rate"),
            Column("method", "Correction"),
            *ESTIMATE,
        ],
        [_shown(row) for row in result["models"]],
    )


def _correct(result: Result) -> Section:
    found = result["correct"]
    title = f"Needless corrections, CorrFP@{found['k']}" if found["k"] else "Needless corrections"
    if found["reason"]:
        return Section(title, f"Not corrected: {found['reason']}.")
    words = f"Answers to turns with a correct premise, by their own {found['n']:,} human labels. {_left_out(found)}"
    columns = [Column("raw", "Detectors", "rate"), Column("method", "Correction"), *ESTIMATE]
    return Section(title, words, columns, [_shown(row) for row in found["rows"]])


def _shown(row: Row) -> Row:
    """A row with its words: what would halve its interval, and what to know of it."""
    halve = f"{row['more']:,}" if row["more"] is not None else ("" if row["reason"] else row["more_reason"])
    said = row["reason"] or row["caution"]
    if row["method"] in (PPI_TUNED,) and row["tuning"] is not None:
        said = f"the detectors count {row['tuning']:.2f}{'; ' + said if said else ''}"
    if row["method"] == PARTIAL and row["tuning"] is not None:
        said = f"own labels count {row['tuning']:.2f}{'; ' + said if said else ''}"
    return {**row, "method": METHODS[row["method"]], "halve": halve, "said": said}
