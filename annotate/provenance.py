"""Where a frozen item comes from: picture, placing, drafts, revisions, reviews, datasets. Reads only.

Nothing of what models answered or how it was labelled is in it.
"""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from annotate.models import Comment, Dataset, DatasetItem, Draft, DraftCall, Item, Review, Revision
from annotate.models.datasets import Origin
from annotate.models.items import ItemState
from annotate.services import rules
from annotate.services.reviews import pairs_among
from fpco_site.llm.models import TOKEN_COLUMNS

UNKNOWN = (
    "It was imported with a release: who chose its picture, what drafted its texts, who edited and who reviewed "
    "them is not known here."
)
CHECKS = ("grounding", "consistency", "naturalness", "single_error")
COLUMNS = ("item", "step", "at", "who", "what", "model", "prompt", "version", "sha256", "tokens", "detail")
_AT_ONCE = 200
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def records(items: Iterable[DatasetItem]) -> Iterator[dict[str, Any]]:
    """The whole provenance of each item as plain values, a few queries for all of them together."""
    rows = list(items)
    sources = [row.source_item_id for row in rows if row.source_item_id]
    revisions = _by_item(Revision.objects.filter(item__in=sources).select_related("by").order_by("version"))
    drafts = _by_item(
        Draft.objects.filter(item__in=sources)
        .select_related("drafter", "requested_by", "applied_by")
        .prefetch_related(Prefetch("calls", DraftCall.objects.defer("request", "reply", "text", "findings")))
        .defer("request", "reply", "payload")
        .order_by("id")
    )
    reviews, comments = _told(sources)
    frozen = _frozen(sources)
    for row in rows:
        yield {
            "item": row.key,
            "known": row.source_item_id is not None,
            "image": _image(row),
            "placed": _placed(revisions[row.source_item_id]),
            "drafts": [_draft(draft) for draft in drafts[row.source_item_id]],
            "revisions": [_revision(revision) for revision in revisions[row.source_item_id]],
            "reviews": [_review(review) for review in reviews[row.source_item_id]],
            "comments": [_comment(comment) for comment in comments[row.source_item_id]],
            "frozen": frozen[row.source_item_id] if row.source_item_id else [_dataset(row.dataset)],
        }


def of_dataset(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The provenance of all items in the order of their keys, read a part at a time."""
    keys = list(dataset.items.order_by("key").values_list("pk", flat=True))
    for start in range(0, len(keys), _AT_ONCE):
        part = DatasetItem.objects.filter(pk__in=keys[start : start + _AT_ONCE]).order_by("key")
        yield from records(part.select_related("image__added_by", "dataset__created_by"))


def json_lines(dataset: Dataset) -> Iterator[str]:
    """One item a line."""
    for record in of_dataset(dataset):
        yield json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


def csv_lines(dataset: Dataset) -> Iterator[str]:
    """One step a line, after a line of column names."""
    yield _csv_line(COLUMNS)
    for record in of_dataset(dataset):
        for step in steps(record):
            yield _csv_line([str(step.get(name) if step.get(name) is not None else "") for name in COLUMNS])


def steps(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of one item in the order of their kinds, each as flat values by `COLUMNS`."""
    item = record["item"]
    yield {"item": item, "step": "image", **_image_step(record["image"])}
    for draft in record["drafts"]:
        yield {"item": item, "step": "draft", **_draft_step(draft)}
    for revision in record["revisions"]:
        what = {"what": revision["reason"], "version": revision["version"], "who": revision["by"]}
        yield {"item": item, "step": "revision", "at": revision["at"], **what}
    for review in record["reviews"]:
        yield {"item": item, "step": "review", **_review_step(review)}
    for comment in record["comments"]:
        said = {"what": comment["line"] or "the item", "version": comment["version"], "detail": comment["text"]}
        yield {"item": item, "step": "comment", "at": comment["at"], "who": comment["by"], **said}
    for dataset in record["frozen"]:
        what = {"what": dataset["dataset"], "who": dataset["by"], "sha256": dataset["dataset_hash"]}
        yield {"item": item, "step": dataset["origin"], "at": dataset["at"], **what}


def _image_step(image: dict[str, Any]) -> dict[str, Any]:
    return {
        "at": image["imported_at"],
        "who": image["imported_by"],
        "what": f"{image['source']} {image['source_id']}".strip(),
        "sha256": image["original_sha256"],
        "detail": "; ".join(filter(None, (image["author"], image["license"], image["landing_url"]))),
    }


def _draft_step(draft: dict[str, Any]) -> dict[str, Any]:
    return {
        "at": draft["finished_at"] or draft["requested_at"],
        "who": draft["requested_by"],
        "what": f"{draft['kind']}: {draft['state']}",
        "model": draft["model_answered"] or draft["model_asked"],
        "prompt": f"{draft['prompt']} {draft['prompt_version']}",
        "sha256": draft["prompt_sha256"],
        "tokens": None if draft["input_tokens"] is None else draft["input_tokens"] + (draft["output_tokens"] or 0),
        "detail": f"applied by {draft['applied_by']} at {draft['applied_at']}" if draft["applied_at"] else "",
    }


def _review_step(review: dict[str, Any]) -> dict[str, Any]:
    held = ", ".join(name for name in CHECKS if review["checks"][name])
    back = f"taken back at {review['withdrawn_at']}" if review["withdrawn_at"] else ""
    return {
        "at": review["at"],
        "who": review["by"],
        "what": review["verdict"],
        "version": review["version"],
        "detail": "; ".join(filter(None, (held, review["comment"], back))),
    }


def _csv_line(values: Iterable[str]) -> str:
    """A line whose cells a spreadsheet takes as text: what would start a formula there gets an apostrophe."""
    buffer = io.StringIO()
    safe = (f"'{value}" if value.startswith(_FORMULA) else value for value in values)
    csv.writer(buffer, lineterminator="\n").writerow(safe)
    return buffer.getvalue()


def _by_item(rows: Iterable[Any]) -> dict[int | None, list[Any]]:
    found: dict[int | None, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.item_id].append(row)
    return found


def _told(sources: list[int]) -> tuple[dict[int | None, list[Any]], dict[int | None, list[Any]]]:
    """Verdicts and comments by item, without those that wait for a second, independent verdict."""
    rows = Item.objects.filter(pk__in=sources, state=ItemState.IN_REVIEW)
    pairs = pairs_among(rows, rules.current())
    hidden = {item.pk: item.version for item in rows if item.pk in pairs}
    verdicts = Review.objects.filter(item__in=sources).select_related("reviewer").order_by("id")
    remarks = Comment.objects.filter(item__in=sources).select_related("by", "resolved_by").order_by("id")
    told = [row for row in verdicts if not row.independent or row.item_version != hidden.get(row.item_id)]
    said = [row for row in remarks if row.item_id not in hidden or row.version < hidden[row.item_id]]
    return _by_item(told), _by_item(said)


def _frozen(sources: list[int]) -> dict[int | None, list[dict[str, Any]]]:
    rows = DatasetItem.objects.filter(source_item__in=sources).select_related("dataset__created_by")
    found: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.order_by("dataset_id"):
        found[row.source_item_id].append(_dataset(row.dataset))
    return found


def _dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset.name,
        "dataset_hash": dataset.dataset_hash,
        "origin": "frozen" if dataset.origin == Origin.FROZEN else "imported",
        "by": _name(dataset.created_by),
        "at": _time(dataset.created_at),
    }


def _image(row: DatasetItem) -> dict[str, Any]:
    facts = ("source", "source_id", "author", "license", "license_url", "landing_url", "sha256", "original_sha256")
    image = row.image
    return {
        **{name: getattr(row, name) for name in facts},
        "here": image is not None,
        "imported_by": _name(image.added_by) if image else None,
        "imported_at": _time(image.added_at) if image else None,
    }


def _placed(revisions: list[Revision]) -> dict[str, Any] | None:
    """The first revision: in which cell, by whom, when."""
    if not revisions:
        return None
    first = revisions[0]
    cell = {name: first.snapshot[name] for name in ("complexity", "category", "premise_class")}
    return {**cell, "by": _name(first.by), "at": _time(first.at), "reason": first.reason}


def _draft(draft: Draft) -> dict[str, Any]:
    plain = ("kind", "state", "prompt_version", "prompt_sha256", "model_asked", "model_answered", "error")
    counts = (*TOKEN_COLUMNS, "simulated", "seconds")
    return {
        **{name: getattr(draft, name) for name in (*plain, *counts)},
        "drafter": draft.drafter.name,
        "calls": [
            {"number": call.number, "verdict": call.verdict, "input_tokens": call.input_tokens}
            | {"output_tokens": call.output_tokens, "model_answered": call.model_answered, "at": _time(call.started_at)}
            for call in draft.calls.all()
        ],
        "prompt": draft.prompt_name,
        "requested_by": _name(draft.requested_by),
        "requested_at": _time(draft.requested_at),
        "finished_at": _time(draft.finished_at),
        "applied_by": _name(draft.applied_by),
        "applied_at": _time(draft.applied_at),
    }


def _revision(revision: Revision) -> dict[str, Any]:
    return {
        "version": revision.version,
        "by": _name(revision.by),
        "at": _time(revision.at),
        "reason": revision.reason,
        "snapshot": revision.snapshot,
    }


def _review(review: Review) -> dict[str, Any]:
    return {
        "version": review.item_version,
        "by": _name(review.reviewer),
        "at": _time(review.at),
        "verdict": review.verdict,
        "checks": {name: getattr(review, name) for name in CHECKS},
        "comment": review.comment,
        "accepted_warnings": review.accepted,
        "independent": review.independent,
        "withdrawn_at": _time(review.withdrawn_at),
    }


def _comment(comment: Comment) -> dict[str, Any]:
    return {
        "version": comment.version,
        "line": comment.line,
        "by": _name(comment.by),
        "at": _time(comment.at),
        "text": comment.text,
        "settled_by": _name(comment.resolved_by),
        "settled_at": _time(comment.resolved_at),
    }


def _name(person: Any) -> str | None:
    return person.get_username() if person is not None else None


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None
