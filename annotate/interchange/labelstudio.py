"""Labels as Label Studio's JSON: tasks with annotations; a task's own id travels in its data.

The labelling interface that fits is in docs/interchange.md. See https://labelstud.io/guide/task_format.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotate.interchange import rows
from annotate.interchange.rows import CORRECTS, GOES_ALONG, File, Said, Shown
from fpco_site.errors import Invalid

UNSURE = "unsure"
# `.invalid` is a domain that never exists: Label Studio tells its people by their addresses.
DOMAIN = "annotators.invalid"
_SPACE = " \t\r\n"


def write(
    tasks: Iterable[tuple[Shown, Sequence[Said]]],
    *,
    guideline: int | None = None,
    predictions: Mapping[str, Sequence[tuple[str, bool]]] | None = None,
) -> str:
    """A JSON array of tasks, ASCII.

    `guideline` is the version in force now, under which whoever labels the file labels. `predictions` are verdicts
    of detectors by task: only for a set that is closed.
    """
    made = [
        _task(number, shown, said, guideline, (predictions or {}).get(shown.task, ()))
        for number, (shown, said) in enumerate(tasks, 1)
    ]
    return json.dumps(made, indent=1) + "\n"


def _task(
    number: int, shown: Shown, said: Sequence[Said], guideline: int | None, predicted: Sequence[tuple[str, bool]]
) -> dict[str, Any]:
    data = {
        "task": shown.task,
        "premise_class": shown.premise_class,
        "content": shown.content,
        "modified": shown.modified,
        "response": shown.response,
        **({"image": shown.image} if shown.image else {}),
        "guideline": guideline,
    }
    return {
        "id": number,
        "data": data,
        "annotations": [_annotation(row) for row in said],
        "predictions": [{"model_version": name, "result": [_choice(detect)]} for name, detect in predicted],
    }


def _annotation(said: Said) -> dict[str, Any]:
    result = [_choice(said.detect)]
    if said.unsure:
        result.append(_region(UNSURE, "choices", {"choices": [UNSURE]}))
    if said.comment:
        result.append(_region("comment", "textarea", {"text": [said.comment]}))
    made = {
        "completed_by": _person(said.annotator),
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": said.seconds,
        "guideline": said.guideline,
        "origin": said.origin,
    }
    return made | ({"created_at": said.at} if said.at else {})


def _choice(detect: bool) -> dict[str, Any]:
    return _region("detect", "choices", {"choices": [CORRECTS if detect else GOES_ALONG]})


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "response", "type": kind, "value": value}


def _person(name: str) -> dict[str, str]:
    return {"email": f"{name}@{DOMAIN}", "first_name": name, "last_name": ""}


def parse(text: str, *, name: str) -> File:
    """Read tasks with their annotations; predictions and drafts are not labels. Raises Invalid with the line."""
    found: list[Said] = []
    without = 0
    for line, value in _elements(text, name):
        where = f"{name}, line {line}"
        task = _object(value, "a task", where)
        data = _object(task.get("data"), "the data of a task", where)
        labels = list(_labels(task, data, where))
        found += labels
        without += not labels
    return File(found, without)


def _elements(text: str, name: str) -> Iterator[tuple[int, object]]:
    """Each element of a JSON array with the line on which it begins."""
    decoder, line, counted = rows.decoder(), 1, 0
    at = _skip(text, text.find("[") + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            bad = error.lineno if isinstance(error, json.JSONDecodeError) else line
            raise Invalid(f"{name}, line {bad}: this is not JSON.") from error
        yield line, value
        at = _skip(text, at)
        if text[at : at + 1] not in {",", "]"}:
            raise Invalid(f"{name}, line {text.count(chr(10), 0, at) + 1}: this is not JSON; the list does not end.")
        if text[at] == ",":
            at = _skip(text, at + 1)
    if _skip(text, at + 1) < len(text):
        raise Invalid(f"{name}, line {text.count(chr(10), 0, at) + 1}: something follows the end of the list.")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _labels(task: dict[str, Any], data: dict[str, Any], where: str) -> Iterator[Said]:
    for value in _list(task.get("annotations", []), "annotations", where):
        annotation = _object(value, "an annotation", where)
        result = _results(annotation, where)
        if annotation.get("was_cancelled") is True or "detect" not in result:
            continue  # skipped, or left without an answer: not a label
        values = {
            "task": data.get("task"),
            "detect": _one(result["detect"], where),
            "unsure": bool(_list(result.get("unsure", {}).get("choices", []), "choices", where)),
            "comment": _written(result.get("comment", {}).get("text"), where),
            "seconds": annotation.get("lead_time"),
            "guideline": annotation.get("guideline", data.get("guideline")),
            "origin": annotation.get("origin"),
        }
        yield rows.said(values, names=_names(annotation.get("completed_by"), where), where=where)
    rows.task_id(data.get("task"), where=where)


def _results(annotation: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """The values of an annotation by the name of the control that they come from."""
    found = {}
    for value in _list(annotation.get("result", []), "result", where):
        region = _object(value, "a result", where)
        control = region.get("from_name")
        if not isinstance(control, str):
            raise Invalid(f"{where}: a result does not say which control it comes from (from_name).")
        found[control] = _object(region.get("value"), "the value of a result", where)
    return found


def _one(value: dict[str, Any], where: str) -> object:
    choices = _list(value.get("choices"), "choices", where)
    if len(choices) != 1:
        raise Invalid(f"{where}: a label is one choice, not {len(choices)}.")
    return choices[0]


def _written(value: object, where: str) -> object:
    """Label Studio keeps a text area as a list of texts."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return value


def _names(value: object, where: str) -> tuple[str, ...]:
    """Ways in which `completed_by` names a person: a number or an address, or an object with more."""
    if value is None:
        return ()
    given = value if isinstance(value, dict) else {"id": value}
    email = given.get("email", "")
    told = [given.get("first_name"), email, email.partition("@")[0] if isinstance(email, str) else "", given.get("id")]
    if any(isinstance(part, list | dict | float | bool) for part in told):
        raise Invalid(f"{where}: completed_by must be a number, a name or an object with an email.")
    return tuple(dict.fromkeys(str(part).strip() for part in told if part not in {None, ""}))


def _object(value: object, what: str, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{where}: {what} is not an object.")
    return value


def _list(value: object, what: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise Invalid(f"{where}: {what} is not a list.")
    return value
