"""Files of labels: what is written is what is read, and what can't be read is refused with its line."""

import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import interchange
from annotate.interchange import File, Said, Shown, labelstudio, tables
from fpco_site.errors import Invalid

TEXTS = st.text(st.characters(codec=None), max_size=40)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
IDS = st.uuids().map(str)
FIRST, SECOND = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Shown, list[Said]]:
    """A task with labels of some people, all of them different people."""
    task = draw(IDS)
    shown = Shown(task, "identity", draw(TEXTS), draw(TEXTS), draw(TEXTS), draw(st.sampled_from(["", "a" * 64])))
    said = [
        Said(
            task=task,
            names=(name,),
            detect=draw(st.booleans()),
            unsure=draw(st.booleans()),
            comment=draw(TEXTS).strip(),
            seconds=draw(st.none() | st.floats(0, 1000)),
            guideline=draw(st.none() | st.integers(1, 9)),
            origin=draw(st.sampled_from(["", "simulated"])),
        )
        for name in draw(st.lists(NAMES, max_size=3, unique=True))
    ]
    return shown, said


ROWS = st.lists(labelled(), max_size=4)


def flat(rows: list[tuple[Shown, list[Said]]]) -> list[tuple[Shown, Said | None]]:
    return [(shown, one) for shown, said in rows for one in said or [None]]


def expected(rows: list[tuple[Shown, list[Said]]]) -> File:
    return File([one for _, said in rows for one in said], sum(not said for _, said in rows))


def with_annotators(file: File) -> list[tuple[str, Said]]:
    """What was said by whom; a file may name a person in several ways."""
    return [(said.annotator, Said(**{**vars(said), "names": ()})) for said in file.said]


def refusal(data: bytes) -> str:
    """The sentence with which a file is refused; any other error is a failure."""
    try:
        interchange.parse(data, name="labels")
    except Invalid as error:
        return error.message
    return "It was read."


@given(ROWS)
def test_csv_comes_back_as_it_went_out(rows: list[tuple[Shown, list[Said]]]) -> None:
    text = tables.write_csv(flat(rows))
    assert interchange.parse(text.encode(), name="labels.csv") == expected(rows)


@given(ROWS)
def test_a_csv_that_a_spreadsheet_saved_comes_back_too(rows: list[tuple[Shown, list[Said]]]) -> None:
    data = b"\xef\xbb\xbf" + tables.write_csv(flat(rows)).encode()
    assert interchange.parse(data, name="labels.csv") == expected(rows)


@given(ROWS)
def test_no_cell_is_a_formula(rows: list[tuple[Shown, list[Said]]]) -> None:
    import csv
    import io

    cells = [cell for row in csv.reader(io.StringIO(tables.write_csv(flat(rows)), newline="")) for cell in row]
    assert [cell for cell in cells if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}] == []


@given(ROWS)
def test_jsonl_comes_back_as_it_went_out(rows: list[tuple[Shown, list[Said]]]) -> None:
    text = tables.write_jsonl(flat(rows))
    assert text.isascii()
    found = interchange.parse(text.encode(), name="labels.jsonl") if text else File([])
    assert found == expected(rows)


@given(ROWS)
def test_label_studio_json_comes_back_as_it_went_out(rows: list[tuple[Shown, list[Said]]]) -> None:
    found = interchange.parse(labelstudio.write(rows).encode(), name="labels.json")
    assert (with_annotators(found), found.without) == (with_annotators(expected(rows)), expected(rows).without)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_sentence(data: bytes) -> None:
    assert refusal(data).endswith(".")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["data", "annotations", "result", "task", "from_name", "value", "completed_by", "detect"]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused_with_a_sentence(value: Any) -> None:
    for text in (json.dumps([value]), json.dumps({"task": value, "detect": value, "annotator": value})):
        assert refusal(text.encode()).endswith(".")


# What Label Studio writes ----------------------------------------------------------------------------


def task(*annotations: dict[str, Any], of: str = FIRST) -> dict[str, Any]:
    return {"id": 7, "data": {"task": of}, "annotations": list(annotations), "predictions": [], "drafts": []}


def annotation(choice: str = "corrects", **more: Any) -> dict[str, Any]:
    result = [
        {"id": "x1", "from_name": "detect", "to_name": "response", "type": "choices", "value": {"choices": [choice]}}
    ]
    return {"id": 1, "completed_by": 3, "result": result, "was_cancelled": False, "lead_time": 4.25, **more}


def read(*tasks: object) -> File:
    return interchange.parse(json.dumps(list(tasks), indent=1).encode(), name="export.json")


def test_an_export_of_label_studio_is_read() -> None:
    comment = {"from_name": "comment", "type": "textarea", "value": {"text": ["one", "two"]}}
    unsure = {"from_name": "unsure", "type": "choices", "value": {"choices": ["unsure"]}}
    made = annotation("goes along", completed_by={"id": 3, "email": "lea@lab.example"})
    made["result"] += [comment, unsure]
    [said] = read(task(made)).said
    assert (said.detect, said.unsure, said.comment, said.seconds) == (False, True, "one\ntwo", 4.25)
    assert said.names == ("lea@lab.example", "lea", "3")


def test_skipped_tasks_and_those_without_an_answer_are_no_labels() -> None:
    found = read(task(annotation(was_cancelled=True)), task(of=SECOND), task(annotation(result=[]), of=SECOND))
    assert (found.said, found.without) == ([], 3)


def test_a_task_left_open_overnight_has_no_seconds() -> None:
    assert read(task(annotation(lead_time=200_000))).said[0].seconds is None


def test_predictions_are_written_only_where_they_are_given() -> None:
    shown = Shown(FIRST, "identity", "cat?", "dog?", "It sleeps.")
    [blind] = json.loads(labelstudio.write([(shown, [])]))
    assert blind["predictions"] == []
    [told] = json.loads(labelstudio.write([(shown, [])], predictions={FIRST: [("GPT-5.4", True)]}))
    assert [(row["model_version"], row["result"][0]["value"]) for row in told["predictions"]] == [
        ("GPT-5.4", {"choices": ["corrects"]})
    ]


# What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "labels is empty."),
        ("  \n ", "labels is empty."),
        (f'[{{"data": {{"task": "{FIRST}"}}}},\n{{"data"', "labels, line 2: this is not JSON."),
        ("[" * 100_000, "labels, line 1: this is not JSON."),
        ('[{"data": {"task": NaN}}]', "labels, line 1: this is not JSON."),
        ('[{"data": {"task": 1, "task": 2}}]', "labels, line 1: this is not JSON."),
        (f'[{{"data": {{"task": "{FIRST}"}}}}] more', "labels, line 1: something follows the end of the list."),
        ("[\n7]", "labels, line 2: a task is not an object."),
        (
            '[\n{"data": {"task": "x"}}]',
            'labels, line 2: "x" is no id of a task; ids are those of an export of the set.',
        ),
        ("task\nx", "labels, line 1: there is no column 'detect'; known columns are"),
        ("task,detect,verdict\n", "labels, line 1: there is no column 'verdict'"),
        ("task,detect,task\n", "labels, line 1: the column 'task' comes twice."),
        (
            f"task,detect\n{FIRST},maybe",
            "labels, line 2: detect must be 'corrects' or 'goes along' (or 1 or 0), not \"maybe\".",
        ),
        (f"task,detect\n{FIRST},1,2", "labels, line 2: there are 3 values for 2 columns."),
        (f"task,detect,seconds\n{FIRST},1,-3", "labels, line 2: the seconds begins with '-'"),
        (f"task,detect,seconds\n{FIRST},1,nan", "labels, line 2: the seconds must be a number of at least 0, not NaN."),
        (
            f"task,detect,seconds\n{FIRST},1,soon",
            'labels, line 2: the seconds must be a number of at least 0, not "soon".',
        ),
        (f"task,detect,guideline\n{FIRST},1,1.5", "labels, line 2: the guideline must be the number of its version"),
        (
            f'task,detect,comment\n{FIRST},1,"a\nb"\n{FIRST},1,=1+1',
            "labels, line 4: the comment begins with '=', which a spreadsheet",
        ),
        (
            f"task,detect,comment\n{FIRST},1,{'x' * 4001}",
            "labels, line 2: the comment has 4,001 characters; 4,000 are the most.",
        ),
        (f'task,detect\n"{FIRST}', "labels, line 2: this is not CSV"),
        ('{"task": 7}\n{', "labels, line 2: this is not a JSON object."),
        ('{"task": 7, "detect": true}', "labels, line 1: 7 is no id of a task"),
        ('{"task": 7, "verdict": true}', "labels, line 1: there is no field 'verdict'"),
        (
            f'{{"task": "{FIRST}", "detect": "yes", "unsure": "x"}}',
            'labels, line 1: unsure must be true or false, not "x".',
        ),
        (f'{{"task": "{FIRST}", "detect": "yes", "annotator": 3}}', "labels, line 1: the annotator must be a name."),
        (f'{{"task": "{FIRST}", "detect": 0.5}}', "labels, line 1: detect must be"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        interchange.parse(text.encode(), name="labels")
    assert refused.value.message.startswith(sentence)
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"lead_time": "4"}, 'the seconds must be a number of at least 0, not "4".'),
        ({"lead_time": True}, "the seconds must be a number"),
        ({"result": "corrects"}, "result is not a list."),
        ({"result": [{"type": "choices"}]}, "a result does not say which control it comes from"),
        (
            {"result": [{"from_name": "detect", "value": {"choices": ["corrects", "goes along"]}}]},
            "a label is one choice, not 2.",
        ),
        ({"result": [{"from_name": "detect", "value": {"choices": ["positive"]}}]}, "detect must be"),
        ({"completed_by": [3]}, "completed_by must be"),
    ],
)
def test_an_annotation_that_is_none_is_refused_with_its_line(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(task(annotation()), task(annotation(**values), of=SECOND))
    assert sentence in refused.value.message
    assert refused.value.message.startswith("export.json, line 3")


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(Invalid, match="labels, line 2: this is not UTF-8 text"):
        interchange.parse(b"task,detect\n\xff\xfe", name="labels")


def test_a_hundred_megabytes_are_refused_before_they_are_read() -> None:
    with pytest.raises(Invalid, match=r"labels has 100 MB; at most 50 MB are read at once\."):
        interchange.check_size(100_000_000, name="labels")


def test_semicolons_and_windows_lines_are_read() -> None:
    text = f"Task;Detect;Annotator\r\n{FIRST};corrects;H1\r\n\r\n{SECOND};;H1\r\n"
    found = interchange.parse(text.encode(), name="labels.csv")
    assert ([said.annotator for said in found.said], found.without) == (["H1"], 1)
