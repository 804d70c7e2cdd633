"""Labels in files of other programs, in and out: Label Studio JSON, CSV and JSONL.

Pure: bytes and plain rows. What may go out to whom, and what comes in where, is `annotate.services.interchange`.
"""

from annotate.interchange import labelstudio, tables
from annotate.interchange.rows import IMPORTED, PAGE, SIMULATED, File, Said, Shown, text_of
from fpco_site.errors import Invalid

__all__ = [
    "FORMATS",
    "IMPORTED",
    "LIMIT",
    "PAGE",
    "SIMULATED",
    "File",
    "Said",
    "Shown",
    "check_size",
    "labelstudio",
    "parse",
    "tables",
]

FORMATS = ("json", "csv", "jsonl")
LIMIT = 50_000_000


def check_size(size: int, *, name: str) -> None:
    """Raise Invalid for more bytes than are read at once; asked before anything is read."""
    if size > LIMIT:
        raise Invalid(f"{name} has {size // 1_000_000} MB; at most {LIMIT // 1_000_000} MB are read at once.")


def parse(data: bytes, *, name: str) -> File:
    """Read a file of any of the three kinds; its content tells which. Raises Invalid with the line."""
    check_size(len(data), name=name)
    text = text_of(data, name)
    first = text.lstrip()[:1]
    if not first:
        raise Invalid(f"{name} is empty.")
    if first == "[":
        return labelstudio.parse(text, name=name)
    return tables.parse_jsonl(text, name=name) if first == "{" else tables.parse_csv(text, name=name)
