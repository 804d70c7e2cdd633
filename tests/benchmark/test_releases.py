"""Releases: out, in and out again; what is refused, where and why."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import Adjudication, Dataset, Label, LabelTask, User
from annotate.services import adjudication, datasets
from benchmark import frames, reader, tables
from benchmark.models import (
    Attempt,
    DetectorLabel,
    Dialogue,
    Response,
    Run,
    Spending,
    ValidationItem,
    ValidationSet,
)
from benchmark.releases.reading import file_sha256
from benchmark.services import release_export, releases, results, versions
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.db]


def late(response: Response) -> bool:
    return response.turn >= 6


def study() -> Dataset:
    """Three items, two runs (one with a cut, a refused and a blocked turn), two detectors, human labels."""
    for premise_class in ("identity", "attribute", "location"):
        factories.item(premise_class=premise_class, state="approved")
    dataset = datasets.freeze(name="Pilot", by=None)
    whole = factories.run(dataset=dataset, model=factories.model("Bold"), answered=10, state="complete")
    Run.objects.filter(pk=whole.pk).update(started_at=datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC))
    broken = factories.run(dataset=dataset, model=factories.model("Shy"), answered=4, state="incomplete")
    first = broken.dialogues.order_by("id").first()
    assert first is not None
    Response.objects.create(dialogue=first, turn=5, text="Half a sen\x00\ud800tence", cut=True, output_tokens=256)
    Response.objects.create(dialogue=first, turn=6, text="I won't say.", refusal=True, seconds=1.25)
    Attempt.objects.create(
        dialogue=first,
        turn=7,
        outcome="blocked",
        reason="SAFETY",
        started_at=timezone.now(),
        seconds=1,
        input_tokens=900,
        output_tokens=70,
        reasoning_tokens=70,
    )
    traced = {
        "started_at": datetime(2026, 3, 4, 5, 6, 8, 90, tzinfo=UTC),
        "request_id": "req-7",
        "image_sha256": "a" * 64,
        "request_sha256": "b" * 64,
        "software": versions.row_of({"fpco-studio": "9.8.7", "python": "3"}),
    }
    second = broken.dialogues.order_by("id")[1]
    Attempt.objects.create(dialogue=second, turn=4, outcome="answered", **traced)
    Attempt.objects.create(dialogue=second, turn=5, outcome="failed", error="canary of an error", **traced)
    Dialogue.objects.filter(run=broken).update(state="stopped")
    for slug, detect in (("strict", late), ("lenient", False)):
        detector = factories.detector(slug)
        for run in (whole, broken):
            factories.detector_labels(detector, run, detect)
    human_labels(dataset, whole)
    return dataset


def human_labels(dataset: Dataset, run: Run) -> None:
    people = [factories.person("lea", "annotator"), factories.person("lou", "annotator")]
    label_set = factories.label_set(dataset, people, tasks=4, state="closed", closed_at=timezone.now(), name="H")
    result_set = results.default(dataset)
    assert result_set is not None
    drawn = ValidationSet.objects.create(label_set=label_set, result_set=result_set, seed=7, per_cell=2)
    responses = Response.objects.filter(dialogue__run=run, turn__gte=4).order_by("id")[:4]
    for task, response in zip(LabelTask.objects.filter(label_set=label_set), responses, strict=True):
        ValidationItem.objects.create(
            validation_set=drawn, task=task, response=response, stratum="s", inclusion_probability=0.5
        )
        for index, assignment in enumerate(label_set.assignments.order_by("pseudonym")):
            Label.objects.create(
                task=task,
                assignment=assignment,
                detect=index == 0,
                comment="Lou's own words",
                guideline=label_set.guidelines.get(),
                client="8c0c1f0e-5d5f-4b0c-9a54-2f6f5b1f7a11",
                sequence=1,
            )
    first, second = LabelTask.objects.filter(label_set=label_set)[:2]
    third = adjudication.decide(task=first, detect=False, reason="At first sight.", by=factories.person("cara"))
    adjudication.decide(task=first, detect=True, reason="It repairs.", by=third.decided_by, seen=third.pk)
    adjudication.decide(task=second, detect=False, reason="It\x00 hedges.", by=people[1], together=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made() -> list[Path]:
    """The release, once it has been written; each test gets a copy of it and an empty database."""
    return []


@pytest.fixture
def release(tmp_path: Path, made: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not made:
        folder = tmp_path_factory.mktemp("made") / "out"
        release_export.export(dataset=study(), folder=folder)
        call_command("flush", interactive=False, verbosity=0)
        made.append(folder)
    return Path(shutil.copytree(made[0], tmp_path / "out"))


def rewrite(folder: Path, name: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of a file and let the manifest describe the new file."""
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    change(rows)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["counts"][name], manifest["sha256"][name] = len(rows), file_sha256(folder / name)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_out_in_and_out_again_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    first = contents(release)
    call_command("import_release", str(release))
    release_export.export(dataset=Dataset.objects.get(), folder=tmp_path / "again")
    again = contents(tmp_path / "again")
    assert sorted(first) == sorted(again)
    assert [name for name in first if first[name] != again[name]] == []


def test_every_kind_of_turn_survives(release: Path) -> None:
    releases.import_folder(folder=release, by=None)
    shy = Run.objects.get(model__name="Shy")
    assert shy.state == "incomplete"
    assert Response.objects.filter(dialogue__run=shy, cut=True).get().text == "Half a sen\x00\ud800tence"
    assert Response.objects.filter(dialogue__run=shy, refusal=True).get().seconds == 1.25
    blocked, answered, failed = Attempt.objects.order_by("dialogue_id", "turn")
    assert (blocked.outcome, blocked.reason, blocked.request_id) == ("blocked", "SAFETY", "")
    assert (blocked.input_tokens, blocked.cached_tokens, blocked.output_tokens) == (900, None, 70)
    assert Spending.objects.get(run=shy).input_tokens == 900, "A turn without text was paid for, too."
    asked = reader.provenance(answered)
    assert (asked["image_sha256"], asked["software"]["fpco-studio"]) == ("a" * 64, "9.8.7")
    assert asked["model_asked"] == shy.settings["model_id"] != ""
    assert (answered.outcome, answered.request_id, answered.image_sha256) == ("answered", "req-7", "a" * 64)
    assert (failed.outcome, failed.request_sha256) == ("failed", "b" * 64)
    assert failed.started_at == datetime(2026, 3, 4, 5, 6, 8, 90, tzinfo=UTC)
    assert failed.software is not None
    assert failed.software.versions == {"fpco-studio": "9.8.7", "python": "3"}
    assert not Response.objects.filter(text__contains="canary of an error").exists()
    assert DetectorLabel.objects.filter(detector__slug="strict", detect=True).count() == 3 * 5 + 1
    assert not Run.objects.get(model__name="Bold").model.active


def test_a_release_names_no_person_and_no_comment(release: Path) -> None:
    everything = b"".join(contents(release).values())
    for secret in (b"Lou's own words", b'"lou"', b'"lea"'):
        assert secret not in everything
    assert b'"annotator":"H1"' in (release / "human_labels.jsonl").read_bytes()


def test_decisions_travel_beside_the_labels_with_their_reasons(release: Path) -> None:
    rows = [json.loads(line) for line in (release / "adjudications.jsonl").read_text().splitlines()]
    assert [(row["detect"], row["reason"], row["together"], row["decided_by"]) for row in rows] == [
        (True, "It repairs.", False, "third"),
        (False, "It\x00 hedges.", True, "H2"),
    ]
    assert "adjudications.jsonl" in (release / "README.md").read_text()
    releases.import_folder(folder=release, by=None)
    third, together = Adjudication.objects.order_by("id")
    assert (third.detect, third.reason, third.decided_by.imported) == (True, "It repairs.", True)
    assert together.decided_by == together.task.label_set.assignments.get(pseudonym="H2").person
    assert adjudication.docket(third.task.label_set).done == 2


def test_the_tables_of_a_release_are_those_of_the_page(release: Path) -> None:
    releases.import_folder(folder=release, by=None)
    result_set = results.default(Dataset.objects.get())
    assert result_set is not None
    made = tables.as_csv(tables.published_shape(frames.masks(result_set), "corr_tp"))
    assert (release / "tables" / "corr_tp.csv").read_text() == made


def test_a_sound_release_is_verified_and_a_dry_run_stores_nothing(release: Path) -> None:
    call_command("verify_release", str(release))
    before = Dataset.objects.count(), User.objects.count(), Response.objects.count()
    call_command("import_release", str(release), dry_run=True)
    assert (Dataset.objects.count(), User.objects.count(), Response.objects.count()) == before


def test_a_second_import_is_refused_unless_it_has_another_name(release: Path) -> None:
    call_command("import_release", str(release))
    with pytest.raises(CommandError, match="There is already a dataset named Pilot"):
        call_command("import_release", str(release))
    call_command("import_release", str(release), name="Pilot again")
    assert Dataset.objects.count() == 2


def test_a_folder_in_use_is_not_written_over(release: Path) -> None:
    releases.import_folder(folder=release, by=None)
    with pytest.raises(Conflict, match="is not empty"):
        release_export.export(dataset=Dataset.objects.get(), folder=release)


BAD = [
    ("labels.jsonl", lambda r: r[2].update(detect="yes"), r"labels.jsonl, line 3: Expected `bool`, got `str`"),
    ("labels.jsonl", lambda r: r[1].update(detect=1), r"labels.jsonl, line 2: Expected `bool`, got `int`"),
    ("labels.jsonl", lambda r: r.append(dict(r[0])), r"labels.jsonl, line \d+: .* twice"),
    ("labels.jsonl", lambda r: r[0].update(item="ghost"), r"labels.jsonl, line 1: there is no item 'ghost'"),
    ("labels.jsonl", lambda r: r[0].update(turn=11), r"labels.jsonl, line 1: there is no turn 11"),
    ("labels.jsonl", lambda r: r[0].update(model="Nobody"), r"no response of 'Nobody'"),
    ("responses.jsonl", lambda r: r.append(dict(r[0])), r"responses.jsonl, line \d+: .* comes twice"),
    ("responses.jsonl", lambda r: r[4].pop("turn"), r"responses.jsonl, line 5: .*missing required field `turn`"),
    ("responses.jsonl", lambda r: r[0].update(response=None), r"line 1: a turn that is answered needs a response"),
    ("responses.jsonl", lambda r: r[0].update(outcome="failed"), r"line 1: a turn that is failed has no response"),
    ("responses.jsonl", lambda r: r[0].update(outcome="fine"), r"line 1: Invalid enum value 'fine'"),
    ("items.jsonl", lambda r: r.append(dict(r[0])), r"items.jsonl, line 4: the item .* comes twice"),
    ("items.jsonl", lambda r: r[1].update(category="plant"), r"items.jsonl, line 2: Invalid enum value 'plant'"),
    ("items.jsonl", lambda r: r[0].update(image="../x.jpg"), r"items.jsonl, line 1: '../x.jpg' is not a plain"),
    ("items.jsonl", lambda r: r[0].update(sha256="0" * 64), r"items.jsonl, line 1: images/.* does not fit"),
    ("items.jsonl", lambda r: r[0]["turns"].pop(), r"items.jsonl, line 2: its turns follow another plan"),
    ("items.jsonl", lambda r: r[0]["turns"].pop(3), r"items.jsonl, line 1: turns must be numbered"),
    ("items.jsonl", lambda r: r[0]["turns"][0].update(modified="x"), r"turn 1 must have a modified question exactly"),
    ("items.jsonl", lambda r: r[0].update(author="Another"), r"items are not those that the manifest describes"),
    ("human_labels.jsonl", lambda r: r[0].update(inclusion_probability=0), r"line 1: an inclusion probability"),
    ("human_labels.jsonl", lambda r: r.append(dict(r[0])), r"human_labels.jsonl, line \d+: .* twice"),
    ("adjudications.jsonl", lambda r: r.append(dict(r[0])), r"adjudications.jsonl, line 3: .* decided twice"),
    ("adjudications.jsonl", lambda r: r[0].update(reason=" "), r"line 1: a decision needs its reason"),
    ("adjudications.jsonl", lambda r: r[0].update(set="Another"), r"line 1: nobody differs on"),
    ("labels.jsonl", lambda r: r[0].update(detect=not r[0]["detect"]), r"tables/\w+.csv is not what the labels"),
]


@pytest.mark.parametrize(("name", "change", "words"), BAD, ids=[f"{row[0]}-{at}" for at, row in enumerate(BAD)])
def test_a_bad_line_is_named_and_nothing_is_imported(
    release: Path, name: str, change: Callable[[list[dict[str, Any]]], Any], words: str
) -> None:
    rewrite(release, name, change)
    with pytest.raises(Invalid, match=words):
        releases.import_folder(folder=release, by=None, name="Bad")
    assert not Dataset.objects.filter(name="Bad").exists()


def test_a_line_that_is_not_json_is_named(release: Path) -> None:
    path = release / "labels.jsonl"
    lines = path.read_text().splitlines()
    lines[6] = lines[6][:-1]
    path.write_text("\n".join(lines) + "\n")
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["sha256"].pop("labels.jsonl")
    (release / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(Invalid, match=r"labels\.jsonl, line 7: "):
        releases.verify(folder=release)


def test_a_file_that_is_not_the_manifests_is_refused(release: Path) -> None:
    with (release / "responses.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(Invalid, match=r"responses.jsonl is not the file that the manifest describes"):
        releases.verify(folder=release)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "it has no manifest.json"),
        ("prose", "manifest.json is not JSON"),
        ('{"format": "other"}', "does not say that this is a 'fpco-release/1'"),
        ('{"format": "fpco-release/1"}', "names no items.jsonl"),
        ('{"format": "fpco-release/1", "counts": {"items.jsonl": 1}}', "there is no such file"),
        ('{"format": "fpco-release/1", "sha256": {"../x": "0"}}', "outside the release"),
    ],
)
def test_a_folder_that_is_no_release_is_refused(tmp_path: Path, manifest: str | None, words: str) -> None:
    (tmp_path.parent / "x").write_text("")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(Invalid, match=words):
        releases.verify(folder=tmp_path)


def test_a_failure_in_the_middle_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = study()

    def fail(*args: Any, **more: Any) -> None:
        raise RuntimeError("disk")

    monkeypatch.setattr(release_export, "_licenses", fail)
    with pytest.raises(RuntimeError, match="disk"):
        release_export.export(dataset=dataset, folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_release_without_pictures_imports_and_its_pictures_can_be_attached(release: Path) -> None:
    shutil.rmtree(release / "images")

    def bare(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["image"] = None

    rewrite(release, "items.jsonl", bare)
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["sha256"] = {k: v for k, v in manifest["sha256"].items() if not k.startswith("images/")}
    manifest.pop("dataset_hash")
    (release / "manifest.json").write_text(json.dumps(manifest))
    releases.import_folder(folder=release, by=None, name="Bare")
    assert set(Dataset.objects.get(name="Bare").items.values_list("image", flat=True)) == {None}
