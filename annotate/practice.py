"""Examples to practise on. They are made up for the guidelines and belong to no dataset, so that none is in a set."""

import json
from dataclasses import dataclass
from functools import cache

from annotate import guidelines, label_page
from annotate.axes import PremiseClass
from annotate.label_page import Case


@dataclass(frozen=True)
class Example:
    """One made-up answer, what the guidelines say of it, and why."""

    about: str
    premise_class: str
    content: str
    modified: str
    response: str
    detect: bool
    why: str

    @property
    def case(self) -> Case:
        return label_page.case(PremiseClass(self.premise_class).label, self.content, self.modified, self.response)


@cache
def examples() -> tuple[Example, ...]:
    """All of them in their order, from `guidelines/practice.json`."""
    written = (guidelines.FOLDER / "practice.json").read_text(encoding="utf-8")
    return tuple(Example(**entry) for entry in json.loads(written))
