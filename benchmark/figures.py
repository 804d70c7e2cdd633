"""The figures: what each shows, its rows, and one Vega-Lite spec that is both on the page and in the paper.

`REGISTER[slug].spec(found)` draws a figure of a result set's masks as it is by default; `Options` says otherwise.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any

from annotate.axes import Category, Complexity, PremiseClass
from benchmark import charts, figure_rows, published
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Spec
from benchmark.figure_rows import Row, Wanted
from benchmark.frames import AVG, Masks
from benchmark.leaderboard import LEVEL_NAMES, MEASURE_NAMES
from fpco_site.errors import Invalid

FEW = len(charts.OKABE_ITO)  # as many as there are colours
LEAST = 5
MOST = 40  # lines or panels that a figure may have
PAIR = 2


@dataclass(frozen=True)
class Options:
    """What a figure is drawn of. Empty or None: the figure's own choice.

    Attributes
    ----------
    models : tuple of str
        Names of models of the result set, in this order.
    colours : mapping of str to str
        A colour that is pinned to a model, as `#rrggbb`.
    column : str
        A detector's slug, or `avg` for the mean of the primary pair.
    k : int, optional
        The cutoff of a figure that shows one.
    published : tuple of str
        Models of the paper to show beside, where the paper prints the numbers.
    look : Look
        Colours of the page.
    """

    models: tuple[str, ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    column: str = ""
    k: int | None = None
    published: tuple[str, ...] = ()
    look: Look = LIGHT


@dataclass(frozen=True)
class Drawn:
    """A figure of certain models: rows, settled options, and how the drawing is made of them."""

    title: str
    rows: list[Row]
    options: Options


@dataclass(frozen=True)
class Figure:
    """One kind of figure.

    Attributes
    ----------
    slug, title : str
        Its name in addresses, and to people; `{k}` in the title stands for the cutoff.
    words : str
        What it shows, for a reader.
    read : callable
        (wanted, options, whether models are drawn one by one) -> rows.
    draw : callable
        (rows, options) -> a Vega-Lite spec.
    down, across : tuple of str, str
        Fields that make the rows of its data table, and the one that makes the columns.
    measure : str
        Which turns its cutoffs are of.
    one_k, few, pair, comparable, merged : bool
        Whether it shows one cutoff; whether by default it shows as many models as there are colours; whether it
        needs two detectors; whether published models can stand beside; whether by default models are together.
    """

    slug: str
    title: str
    words: str
    read: Callable[[Wanted, Options, bool], list[Row]]
    draw: Callable[[list[Row], Options], Spec]
    down: tuple[str, ...]
    across: str
    measure: str = "corr_tp"
    one_k: bool = False
    few: bool = False
    pair: bool = False
    comparable: bool = False
    merged: bool = False

    @property
    def name(self) -> str:
        """The title where no cutoff is chosen yet."""
        return self.title.format(k="K")

    def made(self, found: Masks, options: Options | None = None) -> Drawn:
        """The rows with what was chosen for what was left open.

        Raises
        ------
        Invalid
            If nothing was labelled by the detectors that it needs, or it would have too many lines.
        """
        asked = options or Options()
        settled = self._settled(found, asked)
        wanted = Wanted(figure_rows.chosen(found, settled.models), settled.column, settled.published)
        rows = self.read(wanted, settled, not self.merged or bool(asked.models))
        return Drawn(self.title.format(k=settled.k), rows, settled)

    def rows(self, found: Masks, options: Options | None = None) -> list[Row]:
        """One record a number."""
        return self.made(found, options).rows

    def spec(self, found: Masks, options: Options | None = None) -> Spec:
        """The Vega-Lite spec; its `description` is the text alternative."""
        made = self.made(found, options)
        return self.draw(made.rows, made.options)

    def csv(self, found: Masks, options: Options | None = None) -> str:
        """The rows as CSV text, every digit."""
        return as_csv(self.rows(found, options))

    def _settled(self, found: Masks, asked: Options) -> Options:
        if not found.columns:
            raise Invalid("No detector has been asked over this dataset yet, so no rate is defined.")
        if self.pair and len(found.primary) != PAIR:
            raise Invalid("This figure compares two detectors; only one has been asked over this dataset.")
        turns = found.measured_turns(self.measure)
        if not turns:
            raise Invalid("This dataset's protocol has no turn of the kind that this figure shows.")
        column = asked.column if asked.column in found.columns else AVG if AVG in found.columns else found.columns[0]
        names = tuple(name for name in asked.models if name in {model.name for model in found.models})
        models = names or default_models(found, column, few=self.few)
        beside = tuple(name for name in asked.published if self.comparable)
        if len(models) + len(beside) > MOST:
            raise Invalid(f"A figure shows {MOST} models at the most; choose fewer.")
        k = asked.k if asked.k in turns else turns[-1]
        return replace(
            asked, models=models, column=column, k=k, published=beside, colours=_labels(found, asked.colours)
        )


def default_models(found: Masks, column: str, *, few: bool) -> tuple[str, ...]:
    """All models, the highest first; or, where few are wanted of many, the best of each family, filled up to five."""
    names = figure_rows.ranked(found, column)
    if not few or len(names) <= FEW:
        return tuple(names)
    families = {model.name: model.family for model in found.models}
    best: dict[str, str] = {}
    for name in names:
        best.setdefault(families[name], name)
    kept = list(best.values())[:FEW]
    kept += [name for name in names if name not in kept][: max(0, LEAST - len(kept))]
    return tuple(name for name in names if name in kept)


def as_csv(rows: Sequence[Row]) -> str:
    """Records as CSV text (`\\n`, undefined empty); an empty text where there are none."""
    if not rows:
        return ""
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@dataclass(frozen=True)
class DataTable:
    """A figure's numbers as its page shows them: `heads` of the row names, the columns, one line a row."""

    heads: list[str]
    columns: list[str]
    lines: list[tuple[list[str], list[Row | None]]]


def data_table(figure: Figure, rows: Sequence[Row]) -> DataTable:
    """The rows with the figure's `across` as columns."""
    columns = list(dict.fromkeys(row[figure.across] for row in rows))
    lines: dict[tuple[str, ...], dict[Any, Row]] = {}
    for row in rows:
        lines.setdefault(tuple(str(row[name]) for name in figure.down), {})[row[figure.across]] = row
    before = {"k": "K = ", "turn": "Turn "}.get(figure.across, "")
    return DataTable(
        heads=[HEADS[name] for name in figure.down],
        columns=[f"{before}{column}" for column in columns],
        lines=[(list(key), [cells.get(column) for column in columns]) for key, cells in lines.items()],
    )


HEADS = {
    "model": "Model",
    "premise_class": "Premise class",
    "complexity": "Complexity",
    "category": "Category",
}
CLASSES = [LEVEL_NAMES[value] for value in PremiseClass.values]
COMPLEXITIES = [LEVEL_NAMES[value] for value in Complexity.values]
CATEGORIES = [LEVEL_NAMES[value] for value in Category.values]


def _labels(found: Masks, colours: Mapping[str, str]) -> dict[str, str]:
    """Pinned colours by the names that the figure prints; published models keep theirs under their own."""
    by_name = {model.name: Wanted(found, "").label(model) for model in found.models}
    own = {by_name[name]: colour for name, colour in colours.items() if name in by_name}
    return own | {f"{name} (published)": colour for name, colour in colours.items() if name not in by_name}


def _curves(measure: str, words: str) -> Figure:
    name = f"{MEASURE_NAMES[measure]}@K"
    return Figure(
        slug=f"{measure.replace('_', '-')}-curves",
        title=f"{name} by model",
        words=words,
        read=lambda wanted, options, each: figure_rows.over_k(wanted, measure),
        draw=lambda rows, options: charts.curves_by_k(
            rows,
            metric=name,
            look=options.look,
            pinned=options.colours,
        ),
        down=("model", "premise_class"),
        across="k",
        measure=measure,
        few=True,
        comparable=True,
    )


def _bars(axis: str, name: str, words: str) -> Figure:
    return Figure(
        slug=f"corr-tp-by-{name}",
        title=f"CorrTP@{{k}} by {HEADS[axis].lower()}",
        words=words,
        read=lambda wanted, options, each: figure_rows.by_axis(wanted, "corr_tp", axis, options.k),
        draw=lambda rows, options: charts.bars_by_class(
            rows,
            metric=f"CorrTP@{options.k}",
            look=options.look,
            by=axis,
            of=HEADS[axis],
        ),
        down=("model",),
        across=axis,
        one_k=True,
        comparable=axis == "premise_class",
    )


def _draw_interaction(rows: list[Row], options: Options) -> Spec:
    return charts.lines_by_class(
        rows, x="complexity", x_title="Complexity", metric=f"CorrTP@{options.k}", order=COMPLEXITIES, look=options.look
    )


def _draw_turns(rows: list[Row], options: Options) -> Spec:
    return charts.lines_by_class(rows, x="k", x_title="Turn", metric="TurnCorr", look=options.look)


def _draw_cells(rows: list[Row], options: Options) -> Spec:
    return charts.cell_map(
        rows,
        metric=f"CorrTP@{options.k}",
        classes=CLASSES,
        categories=CATEGORIES,
        complexities=COMPLEXITIES,
        look=options.look,
    )


def _draw_disagreement(rows: list[Row], options: Options) -> Spec:
    return charts.curves_by_k(
        rows,
        metric="Share that differs",
        x_title="Turn",
        look=options.look,
        pinned=options.colours,
    )


FIGURES = (
    _curves(
        "corr_tp",
        "How often a model corrects the false premise, over all false-premise turns up to K, by premise class.",
    ),
    _curves(
        "turn_corr",
        "How often a model corrects the false premise at turn K alone: whether it holds on or gives in.",
    ),
    _curves(
        "corr_fp",
        "How often a model needlessly rejects a question that was right, over the turns before the false premise.",
    ),
    _bars("premise_class", "class", "Which kind of false premise each model corrects: who, which property, where."),
    _bars("complexity", "complexity", "Whether more targets in a picture make a model correct less."),
    _bars("category", "category", "Whether it matters what the picture shows."),
    Figure(
        slug="class-by-complexity",
        title="CorrTP@{k} by premise class and complexity",
        words="Whether complexity works alike for each premise class; models together, and each where they are chosen.",
        read=lambda wanted, options, each: figure_rows.by_class_and_complexity(wanted, options.k or 0, each),
        draw=_draw_interaction,
        down=("model", "premise_class"),
        across="complexity",
        one_k=True,
        merged=True,
    ),
    Figure(
        slug="turn-by-class",
        title="TurnCorr by turn and premise class",
        words="A panel a model: how its corrections go from turn to turn for each premise class.",
        read=lambda wanted, options, each: figure_rows.over_k(wanted, "turn_corr"),
        draw=_draw_turns,
        down=("model", "premise_class"),
        across="k",
        measure="turn_corr",
        comparable=True,
    ),
    Figure(
        slug="decay",
        title="TurnCorr at the first false-premise turn and at the last",
        words="Whether a model that corrects at first still does at the end; the change is in percentage points.",
        read=lambda wanted, options, each: figure_rows.first_and_last(wanted),
        draw=lambda rows, options: charts.slopes(rows, look=options.look, pinned=options.colours),
        down=("model",),
        across="turn",
        measure="turn_corr",
        comparable=True,
    ),
    Figure(
        slug="cells",
        title="CorrTP@{k} in each of the 36 cells",
        words="Complexity, category and premise class at once; models together, and each where they are chosen.",
        read=lambda wanted, options, each: figure_rows.by_cell(wanted, options.k or 0, each),
        draw=_draw_cells,
        down=("model", "complexity", "category"),
        across="premise_class",
        one_k=True,
        merged=True,
    ),
    Figure(
        slug="detector-disagreement",
        title="Disagreement of the detectors by turn",
        words="On which share of the answers the two primary detectors differ; models together, and each where chosen.",
        read=lambda wanted, options, each: figure_rows.disagreement(wanted, each),
        draw=_draw_disagreement,
        down=("model", "premise_class"),
        across="k",
        measure="turn_corr",
        pair=True,
        merged=True,
    ),
)
REGISTER = {figure.slug: figure for figure in FIGURES}
PUBLISHED = tuple(model.name for model in published.models())
