"""What changed from version to version, in words that a page shows."""

from collections.abc import Iterable
from typing import Any

from annotate import drafting
from annotate.models import Comment, Review, Revision

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
            _change(name, before.get(name, ""), text) for name, text in now.items() if text != before.get(name, "")
        ]
        found.append({"revision": revision, "changes": changes})
        before = now
    return found[::-1]


def _change(name: str, before: str, after: str) -> dict[str, Any]:
    if not before:  # Nothing to compare with, so nothing to mark.
        return {"name": name, "former": [], "text": [drafting.Segment(after, changed=False)]}
    former, text = drafting.split_marks(before, after)
    return {"name": name, "former": former, "text": text}


def timeline(
    revisions: Iterable[Revision], verdicts: Iterable[Review], remarks: Iterable[Comment]
) -> list[dict[str, Any]]:
    """Everything that happened to an item, the newest first: versions, verdicts and comments by their time."""
    found = [{"at": entry["revision"].at, **entry} for entry in entries(revisions)]
    found += [{"at": verdict.at, "verdict": verdict} for verdict in verdicts]
    found += [{"at": remark.at, "remark": remark} for remark in remarks]
    return sorted(found, key=lambda entry: entry["at"], reverse=True)


def _flat(snapshot: dict[str, Any]) -> dict[str, str]:
    texts = {
        words: str(snapshot[name]).replace("_", " ") if name in _CODES else str(snapshot[name])
        for name, words in _NAMES.items()
    }
    for turn in snapshot["turns"]:
        texts[f"Question {turn['turn']}"] = turn["content"]
        texts[f"Modified {turn['turn']}"] = turn["modified"]
    return texts
