"""Prompts as their pages show them: what each is for, its versions, and how two of them differ. Reads only."""

from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from annotate import drafting
from fpco_site.llm import prompts
from fpco_site.llm.models import PromptVersion
from fpco_site.llm.prompts import Prompt

PURPOSES = {
    "draft_questions": ("Drafting questions", "Asks a drafter for the description and the questions of a photograph."),
    "draft_premise": ("Drafting the false premise", "Asks a drafter for one error of the fixed class."),
    "inference": ("Answering", "Goes to every model under evaluation, before the picture and the questions."),
    "detector": ("Detecting corrections", "Asks a detector whether each answer corrects the premise."),
    "check_variant": ("Checking variants", "Asks three families of models about a variant before its review."),
}


@dataclass(frozen=True)
class Version:
    """One version; `by`, `at` and `note` only where an author saved it."""

    prompt: Prompt
    by: str = ""
    at: datetime | None = None
    note: str = ""

    @property
    def shipped(self) -> bool:
        return self.at is None

    @property
    def label(self) -> str:
        return str(self.prompt.version)

    @property
    def words(self) -> int:
        return len(self.prompt.text.split())


@dataclass(frozen=True)
class Entry:
    """One prompt with its versions, the newest first."""

    name: str
    title: str
    purpose: str
    versions: list[Version]

    @property
    def newest(self) -> Version:
        return self.versions[0]


@dataclass(frozen=True)
class Row:
    """One line of two texts side by side; None where a side has no such line."""

    before: list[drafting.Segment] | None
    after: list[drafting.Segment] | None
    changed: bool


def entries() -> list[Entry]:
    """Every prompt, those of drafting first."""
    order = [*(name for name in PURPOSES if name in prompts.names()), *sorted(set(prompts.names()) - PURPOSES.keys())]
    saved: dict[str, list[PromptVersion]] = {}
    for row in PromptVersion.objects.order_by("-version"):
        saved.setdefault(row.name, []).append(row)
    return [_entry(name, saved.get(name, [])) for name in order]


def entry(name: str) -> Entry | None:
    """One prompt; None where there is none of that name."""
    if name not in prompts.names():
        return None
    return _entry(name, list(PromptVersion.objects.filter(name=name).order_by("-version")))


def side_by_side(before: str, after: str) -> list[Row]:
    """Two texts line by line, words that the other side lacks marked."""
    left, right = before.splitlines(), after.splitlines()
    rows = []
    for tag, a1, a2, b1, b2 in drafting.matcher(left, right).get_opcodes():
        for old, new in zip_longest(left[a1:a2], right[b1:b2]):
            rows.append(_row(old, new, changed=tag != "equal"))
    return rows


def _row(old: str | None, new: str | None, *, changed: bool) -> Row:
    if old is None or new is None:
        whole = [drafting.Segment(old or new or "", True)]
        return Row(None if old is None else whole, None if new is None else whole, True)
    before, after = drafting.split_marks(old, new)
    return Row(before, after, changed)


def _entry(name: str, saved: list[PromptVersion]) -> Entry:
    title, purpose = PURPOSES.get(name, (name.replace("_", " ").capitalize(), ""))
    made = [Version(prompts.Prompt(name, row.version, row.text, row.sha256), row.by, row.at, row.note) for row in saved]
    shipped = [Version(prompts.load(name, version)) for version in reversed(prompts.shipped(name))]
    return Entry(name, title, purpose, [*made, *shipped])
