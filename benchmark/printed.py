"""One table, many writers: a page's rows, CSV, LaTeX and Markdown from the same object."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import accumulate, groupby

type Table = list[dict[str, str]]

FORMS = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}
NARROW = 8  # columns that a text's width holds at the text's size
PART = 56  # rows of a LaTeX table that a page holds; a longer one goes on in another

_TEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "’": "'",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "−": "$-$",
    }
)
_UNKNOWN_TO_TEX = re.compile(r"[^\x20-\x7e\xa1-\u017f]")
_MARKS = re.compile(r"([\\`*_|<>&])|(?<=\])(\()")


@dataclass(frozen=True)
class Printed:
    """A table as it is printed: one frame for the page, CSV, LaTeX, Markdown and the API.

    Attributes
    ----------
    name, caption : str
        Its files' name, and what stands over it.
    rows : list of dict
        Every number with its n and reason as text by column name: the CSV.
    heads, cells : list of str, list of list of str
        What is printed; the first `words` columns hold words, the others numbers.
    groups : list of (str, int)
        Heads over the heads, each with how many columns it spans; none where empty.
    by_first : bool
        Whether rows that share their first cell belong together, so that it is printed once.
    notes : list of str
        Sentences under the table.
    sources : list of list of str
        For each cell the query that asks for the answers behind it, empty where there are none.
    """

    name: str
    caption: str
    rows: Table
    heads: list[str]
    cells: list[list[str]]
    groups: Sequence[tuple[str, int]] = ()
    words: int = 1
    by_first: bool = False
    notes: Sequence[str] = ()
    sources: Sequence[Sequence[str]] = ()

    @property
    def sourced(self) -> list[list[list[tuple[str, str]]]]:
        """The rows that belong together, each cell with its source."""
        sources = iter(self.sources or [[""] * len(row) for row in self.cells])
        return [[list(zip(row, next(sources), strict=True)) for row in block] for block in self.blocks]

    @property
    def blocks(self) -> list[list[list[str]]]:
        """The rows that belong together."""
        if not self.by_first:
            return [self.cells]
        return [list(rows) for _, rows in groupby(self.cells, key=lambda row: row[0])]

    @property
    def starts(self) -> set[int]:
        """The columns with which a group begins, or with which one has ended."""
        ends = accumulate((span for _, span in self.groups), initial=0)
        return {at for at, (name, _) in zip(ends, self.groups, strict=False) if name or at}

    @property
    def csv(self) -> str:
        """UTF-8 text with `\\n`; every number apart, undefined is empty."""
        return as_csv(self.rows)

    @property
    def latex(self) -> str:
        """`booktabs` tables that fit a page each; needs `\\usepackage{booktabs}`."""
        parts = list(self._parts())
        lines = [f"% {self.name}: needs \\usepackage{{booktabs}}"]
        for number, blocks in enumerate(parts, 1):
            lines += self._latex_part(blocks, f" ({number} of {len(parts)})" if len(parts) > 1 else "")
        return "\n".join(lines) + "\n"

    @property
    def markdown(self) -> str:
        """A pipe table under its caption; a head carries the group it stands in."""
        over = [f"{group} " if group else "" for group, span in self.groups for _ in range(span)]
        over = over or [""] * len(self.heads)
        heads = [group + head for group, head in zip(over, self.heads, strict=True)]
        rule = [":---" if at < self.words else "---:" for at in range(len(heads))]
        rows = [[md(cell) for cell in row] for row in [heads, *self.cells]]
        lines = [_piped(rows[0]), _piped(rule), *map(_piped, rows[1:])]
        notes = [line for note in self.notes for line in ("", md(note))]
        return "\n".join([f"**{md(self.caption)}**", "", *lines, *notes]) + "\n"

    def written(self, form: str) -> str:
        """The table in one of `FORMS`."""
        return {"csv": lambda: self.csv, "tex": lambda: self.latex, "md": lambda: self.markdown}[form]()

    def _parts(self) -> Iterator[list[list[list[str]]]]:
        """Blocks that a page of LaTeX holds, none of them divided unless it fills a page of its own."""
        held: list[list[list[str]]] = []
        for block in self.blocks:
            for at in range(0, max(1, len(block)), PART):
                piece = block[at : at + PART]
                if held and sum(map(len, held)) + len(piece) > PART:
                    yield held
                    held = []
                held.append(piece)
        yield held

    def _latex_part(self, blocks: list[list[list[str]]], more: str) -> list[str]:
        wide = len(self.heads) > NARROW
        name = "table*" if wide else "table"
        small = ["  \\footnotesize", "  \\setlength{\\tabcolsep}{3pt}"] if wide else []
        return [
            f"\\begin{{{name}}}",
            "  \\centering",
            *small,
            f"  \\caption{{{tex(self.caption + more)}}}",
            f"  \\begin{{tabular}}{{{'l' * self.words}{'r' * (len(self.heads) - self.words)}}}",
            "    \\toprule",
            *self._latex_groups(),
            f"    {' & '.join(tex(head) for head in self.heads)} \\\\",
            "    \\midrule",
            *self._latex_rows(blocks),
            "    \\bottomrule",
            "  \\end{tabular}",
            *(f"  \\par\\smallskip {tex(note)}" for note in self.notes),
            f"\\end{{{name}}}",
        ]

    def _latex_groups(self) -> list[str]:
        if not self.groups:
            return []
        cells, rules, at = [], [], 1
        for name, span in self.groups:
            cells.append(f"\\multicolumn{{{span}}}{{c}}{{{tex(name)}}}" if name else " & ".join([""] * span))
            rules += [f"\\cmidrule(lr){{{at}-{at + span - 1}}}"] if name else []
            at += span
        return [f"    {' & '.join(cells)} \\\\", f"    {' '.join(rules)}"]

    def _latex_rows(self, blocks: list[list[list[str]]]) -> Iterator[str]:
        for number, block in enumerate(blocks):
            if number and self.by_first:
                yield "    \\addlinespace"
            for at, row in enumerate(block):
                first = "" if at and self.by_first else tex(row[0])
                # A row that begins with [ or * would be taken for an argument of the one before.
                first = f"{{{first[0]}}}{first[1:]}" if first[:1] in ("[", "*") else first
                yield f"    {' & '.join([first, *map(tex, row[1:])])} \\\\"


def tex(text: str) -> str:
    """Plain text as LaTeX prints it; a sign that its usual fonts lack as its code, so that it compiles."""
    known = " ".join(text.split()).translate(_TEX)
    return _UNKNOWN_TO_TEX.sub(lambda sign: f"U+{ord(sign[0]):04X}", known)


def md(text: str) -> str:
    """Plain text as Markdown shows it, on one line."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", " ".join(text.split()))


def as_csv(table: Table) -> str:
    """A table as CSV text; the header alone says nothing, so an empty table is an empty text."""
    if not table:
        return ""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def fixed(value: float | None) -> str:
    """A number with three decimals; empty where there is none."""
    return "" if value is None else f"{value:.3f}"


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
