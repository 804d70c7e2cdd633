"""What changed from version to version, in words that a page shows."""

from collections.abc import Iterable
from typing import Any

from annotate import drafting
from annotate.models import Revision

_NAMES = {
    "state": "State",
    "complexity": "Complexity",
    "category": "Category",
    "premise_class": "Premise class",
    "target": "Target",
    "target_description": "Description",
    "modified_target_description": "Modified description",
}


_CODES = {"state", "complexity", "category", "premise_class"}


def entries(revisions: Iterable[Revision]) -> list[dict[str, Any]]:
    """Each revision, the newest first, with what it changed; the first one states everything it has."""
    found = []
    before: dict[str, str] = {}
    for revision in revisions:
        now = _flat(revision.snapshot)
        changes = [
            {"name": name, "text": drafting.split_marks(before.get(name, ""), text)[1]}
            for name, text in now.items()
            if text != before.get(name, "")
        ]
        found.append({"revision": revision, "changes": changes})
        before = now
    return found[::-1]


def _flat(snapshot: dict[str, Any]) -> dict[str, str]:
    texts = {
        words: str(snapshot[name]).replace("_", " ") if name in _CODES else str(snapshot[name])
        for name, words in _NAMES.items()
    }
    for turn in snapshot["turns"]:
        texts[f"Question {turn['turn']}"] = turn["content"]
        texts[f"Modified {turn['turn']}"] = turn["modified"]
    return texts
