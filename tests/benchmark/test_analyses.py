"""Analyses are stored once for the same question about the same data, by whoever claims them, with what made them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import User
from benchmark.analyses import KINDS, digests
from benchmark.analyses.kinds import Column, Kind, Section
from benchmark.models import Analysis, DetectorLabel, Exposure, Opened, Response, ResultSet, Run
from benchmark.services import analyses, building, results
from benchmark.tasks import run_analyses
from fpco_site.errors import Invalid
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]
type As = Callable[[User], Client]


@pytest.fixture
def run() -> Run:
    """One model over three dialogues: `strict` sees corrections from turn 6, `lenient` none."""
    made = factories.run(dataset=factories.dataset("Pilot", items=3), answered=10, state="complete")

    def late(response: Response) -> bool:
        return response.turn >= 6

    factories.detector_labels(factories.detector("strict"), made, late)
    factories.detector_labels(factories.detector("lenient"), made, False)
    return made


def counting_set(run: Run) -> ResultSet:
    found = results.default(run.dataset)
    assert found is not None
    return found


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A kind that workers run; the list grows at each computation."""
    computed: list[int] = []

    def compute(inputs: Any, parameters: Any, rng: np.random.Generator) -> dict[str, Any]:
        computed.append(parameters["times"])
        return {"drawn": rng.integers(1000, size=parameters["times"]), "none": None}

    kind = Kind(
        slug="slow",
        title="Slow",
        question="How long?",
        method="By waiting.",
        read=KINDS["self_scoring"].read,
        run=compute,
        sections=lambda found: [Section("Drawn", "Numbers.", [Column("n", "N", "count")], [{"n": 3}, {"n": None}])],
        defaults={"times": 2, "first_is": "by_id", "second_is": "by_id"},
        long=True,
    )
    monkeypatch.setitem(KINDS, "slow", kind)
    return computed


# Storing ------------------------------------------------------------------------------------------------------------


def test_the_same_question_about_the_same_data_is_one_analysis(run: Run, ada: User, ben: User) -> None:
    first = analyses.request(kind="self_scoring", result_set=counting_set(run), by=ada)
    again = analyses.request(kind="self_scoring", result_set=counting_set(run), by=ben)
    assert (first.state, again.pk, again.created_by) == ("done", first.pk, ada)
    assert first.seed is None
    assert first.software["numpy"] == np.__version__
    other = analyses.request(
        kind="self_scoring", result_set=counting_set(run), parameters={"first_is": run.model.name}, by=ada
    )
    assert other.pk != first.pk
    assert other.inputs_sha256 != first.inputs_sha256


def test_a_new_label_makes_another_analysis_and_the_old_one_says_so(run: Run, ada: User, as_: As) -> None:
    first = analyses.request(kind="self_scoring", result_set=counting_set(run), by=ada)
    page = reverse("analysis_detail", args=[first.pk])
    assert "The data have changed" not in as_(ada).get(page).content.decode()
    factories.detector_labels(factories.detector("third"), run, True)
    assert "The data have changed" in as_(ada).get(page).content.decode()
    assert analyses.request(kind="self_scoring", result_set=counting_set(run), by=ada).pk != first.pk
    first.refresh_from_db()
    assert first.state == "done"


def test_a_long_one_waits_for_a_worker_and_a_seed_gives_the_same_numbers(run: Run, ada: User, slow: list[int]) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    assert (row.state, slow) == ("waiting", [])
    run_analyses()
    row.refresh_from_db()
    assert (row.state, row.seed, slow) == ("done", analyses.SEED, [2])
    assert row.result == {"drawn": np.random.default_rng(analyses.SEED).integers(1000, size=2).tolist(), "none": None}
    run_analyses()
    assert slow == [2]
    other = analyses.request(kind="slow", result_set=counting_set(run), seed=7, by=ada)
    assert other.pk != row.pk


def test_two_workers_do_not_run_one_twice(run: Run, ada: User, slow: list[int]) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    seen_by_another = Analysis.objects.get(pk=row.pk)
    assert analyses._work.claim(row)
    assert analyses._work.claim(seen_by_another) == ""
    assert analyses.run_waiting() == 0
    assert slow == []


def test_a_killed_workers_analysis_is_taken_up_again_but_not_for_ever(
    run: Run, ada: User, slow: list[int], settings: Any
) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    Analysis.objects.filter(pk=row.pk).update(state="running", worker="gone", beat=3, tries=1)
    assert analyses.run_waiting() == 0  # it may be alive
    settings.ENGINE = {**settings.ENGINE, "stale": 0.0}
    assert analyses.run_waiting() == 1
    row.refresh_from_db()
    assert (row.state, row.tries, slow) == ("done", 2, [2])
    lost = analyses.request(kind="slow", result_set=counting_set(run), seed=5, by=ada)
    Analysis.objects.filter(pk=lost.pk).update(state="running", worker="gone too", beat=1, tries=building.TRIES)
    settings.ENGINE = {**settings.ENGINE, "stale": 30.0}
    analyses.run_waiting()
    settings.ENGINE = {**settings.ENGINE, "stale": 0.0}
    assert analyses.run_waiting() == 0
    lost.refresh_from_db()
    assert (lost.state, lost.error) == ("failed", "3 workers ended while they ran it. Was there too little memory?")


def test_a_worker_that_was_taken_over_writes_nothing(
    run: Run, ada: User, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)

    def overtaken(*_: Any) -> dict[str, int]:
        Analysis.objects.filter(pk=row.pk).update(worker="another")
        return {"late": 1}

    monkeypatch.setitem(KINDS, "slow", Kind(**{**vars(KINDS["slow"]), "run": overtaken}))
    assert analyses.run_waiting() == 1
    row.refresh_from_db()
    assert (row.state, row.worker, row.result) == ("running", "another", None)


def test_data_that_changed_meanwhile_fail_with_that_reason(run: Run, ada: User, slow: list[int]) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    DetectorLabel.objects.filter(turn=10).delete()
    Run.objects.update(patterns_dirty=True)
    analyses.run_waiting()
    row.refresh_from_db()
    assert (row.state, slow) == ("failed", [])
    assert row.error.startswith("The data changed after this was asked for")


@pytest.mark.parametrize("odd", [float("nan"), np.float64("inf"), object()])
def test_what_json_can_not_hold_is_a_failure_with_its_place_and_can_be_tried_again(
    run: Run, ada: User, slow: list[int], monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    whole = KINDS["slow"]
    monkeypatch.setitem(KINDS, "slow", Kind(**{**vars(whole), "run": lambda *_: {"rows": [{"a": 1.0}, {"a": odd}]}}))
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    analyses.run_waiting()
    row.refresh_from_db()
    assert row.state == "failed"
    assert "result.rows[1].a is" in row.error
    monkeypatch.setitem(KINDS, "slow", whole)
    assert analyses.request(kind="slow", result_set=counting_set(run), by=ada).pk == row.pk
    analyses.run_waiting()
    row.refresh_from_db()
    assert (row.state, row.error) == ("done", "")


def test_what_was_asked_can_not_be_changed_and_done_needs_a_result(run: Run, ada: User, slow: list[int]) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    with pytest.raises(IntegrityError), transaction.atomic():
        Analysis.objects.filter(pk=row.pk).update(state="done")
    with pytest.raises(IntegrityError, match="can not be changed"), transaction.atomic():
        Analysis.objects.filter(pk=row.pk).update(seed=2)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"k": 3}, "no parameter 'k'"),
        ({"first_is": "Nobody"}, "“The first detector is” must be one of"),
    ],
)
def test_a_parameter_that_is_not_known_is_refused(run: Run, ada: User, parameters: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        analyses.request(kind="self_scoring", result_set=counting_set(run), parameters=parameters, by=ada)
    with pytest.raises(Invalid, match="no analysis 'x'"):
        analyses.request(kind="x", result_set=counting_set(run), by=ada)


@pytest.mark.parametrize("loss", ["-1", "1e300", -1e-9, 100.5, "x" * 10_000])
def test_a_number_beyond_its_limits_is_refused_and_nothing_is_stored(run: Run, ada: User, loss: Any) -> None:
    with pytest.raises(Invalid) as refused:
        analyses.request(kind="persistence", result_set=counting_set(run), parameters={"loss": loss}, by=ada)
    assert len(refused.value.message) < 150
    assert not Analysis.objects.exists()


@pytest.mark.parametrize("seed", ["x", "-1", "²", "1.5", "9" * 30])
def test_a_seed_that_is_no_number_is_refused_on_the_page(run: Run, ada: User, as_: As, seed: str) -> None:
    asked = {"dataset": run.dataset.pk, "seed": seed}
    page = as_(ada).post(reverse("analysis_run", args=["stratified"]), asked, follow=True).content.decode()
    assert "A seed is a whole number" in page
    assert not Analysis.objects.exists()


def test_hashes_tell_types_shapes_and_order_apart() -> None:
    values = [
        np.array([1, 2]),
        np.array([2, 1]),
        np.array([[1, 2]]),
        np.array([1.0, 2.0]),
        np.array(["1", "2"]),
        [1, 2],
        [[1], 2],
        ["1", 2],
        ["12"],
        ["1", "2"],
        {"a": 1},
        {"a": None},
        True,
        1,
        None,
    ]
    assert len({digests.of_inputs(value) for value in values}) == len(values)
    assert digests.of_inputs(np.array([1, 2], dtype=">i8")) == digests.of_inputs(np.array([1, 2], dtype="<i8"))
    with pytest.raises(TypeError, match="Python objects"):
        digests.of_inputs(np.array([None]))
    with pytest.raises(TypeError, match="object has no bytes"):
        digests.of_inputs([object()])


# Pages --------------------------------------------------------------------------------------------------------------


def test_an_author_runs_one_by_a_double_click_and_a_reader_takes_it_away(
    as_: As, ada: User, rita: User, run: Run
) -> None:
    for _ in range(2):
        answer = as_(ada).post(reverse("analysis_run", args=["self_scoring"]), {"dataset": run.dataset.pk})
    row = Analysis.objects.get()
    assert answer.headers["Location"] == reverse("analysis_detail", args=[row.pk])
    listed = as_(rita).get(reverse("analysis_list")).content.decode()
    assert "Self-scoring check" in listed
    assert '<button class="btn btn-secondary btn-sm">' not in listed.split("<main", 1)[1]
    page = as_(rita).get(reverse("analysis_detail", args=[row.pk])).content.decode()
    for words in ("0.3571", run.model.name, row.inputs_sha256, "simulated", "declare it and run this again", "python"):
        assert words in page
    sheet = as_(rita).get(reverse("analysis_table", args=[row.pk, 1])).content.decode()
    assert sheet.splitlines()[0].startswith("model,mean,mean_interval_low,mean_interval_high,mean_rank,by,check")
    assert f"{run.model.name} (simulated),{15 / 42}," in sheet
    whole = as_(rita).get(reverse("analysis_json", args=[row.pk]))
    assert whole.json()["result"]["rows"][0]["mean"] == pytest.approx(15 / 42)
    assert Opened.objects.filter(person=rita, page="analysis: self_scoring").exists()


def test_undefined_shows_as_a_dash_with_its_reason(as_: As, ada: User, run: Run, slow: list[int]) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    waiting = as_(ada).get(reverse("analysis_detail", args=[row.pk]))
    assert "A worker runs this" in waiting.content.decode()
    analyses.run_waiting()
    page = as_(ada).get(reverse("analysis_detail", args=[row.pk])).content.decode()
    assert 'title="undefined"' in page
    assert as_(ada).get(reverse("analysis_table", args=[row.pk, 1])).content.decode() == 'n\n3\n""\n'
    assert as_(ada).get(reverse("analysis_figure", args=[row.pk, 1, "svg"])).status_code == 404
    assert as_(ada).get(reverse("analysis_table", args=[row.pk, 2])).status_code == 404


def test_a_result_of_an_earlier_version_is_kept_but_not_worded_by_this_one(
    as_: As, ada: User, run: Run, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ada)
    analyses.run_waiting()
    monkeypatch.setitem(
        KINDS, "slow", Kind(**{**vars(KINDS["slow"]), "version": 2, "sections": lambda found: found["new"]})
    )
    page = as_(ada).get(reverse("analysis_detail", args=[row.pk])).content.decode()
    assert "An earlier version of this analysis made it" in page
    assert as_(ada).get(reverse("analysis_json", args=[row.pk])).json()["result"]["none"] is None
    assert analyses.request(kind="slow", result_set=counting_set(run), by=ada).pk != row.pk


def test_what_can_not_be_analysed_is_said_on_the_list(as_: As, ada: User, run: Run) -> None:
    lone = factories.run(dataset=factories.dataset("Lone"), answered=10, state="complete")
    page = as_(ada).post(reverse("analysis_run", args=["self_scoring"]), {"dataset": lone.dataset.pk}, follow=True)
    assert "Nothing can be analysed before" in page.content.decode()
    assert not Analysis.objects.exists()


@pytest.mark.parametrize("name", ["analysis_list", "analysis_detail", "analysis_json", "analysis_table"])
def test_annotators_find_no_analysis(as_: As, lea: User, ada: User, run: Run, name: str) -> None:
    row = analyses.request(kind="self_scoring", result_set=counting_set(run), by=ada)
    args = {"analysis_list": [], "analysis_table": [row.pk, 1]}.get(name, [row.pk])
    assert as_(lea).get(reverse(name, args=args)).status_code == 404
    assert as_(ada).get(reverse(name, args=args)).status_code == 200


def test_only_authors_run_one(as_: As, rita: User, lea: User, run: Run) -> None:
    for who in (rita, lea):
        answer = as_(who).post(reverse("analysis_run", args=["self_scoring"]), {"dataset": run.dataset.pk})
        assert answer.status_code == 404
    assert not Analysis.objects.exists()


def test_one_that_tells_of_peoples_labels_is_withheld_from_who_labels(
    as_: As, ada: User, ben: User, run: Run, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "slow", Kind(**{**vars(KINDS["slow"]), "unblinded": True}))
    row = analyses.request(kind="slow", result_set=counting_set(run), by=ben)
    analyses.run_waiting()
    factories.label_set(run.dataset, [ada])
    page = reverse("analysis_detail", args=[row.pk])
    assert as_(ada).get(page).status_code == 403
    assert as_(ada).get(f"/api/v1/analyses/{row.pk}/").status_code == 403
    assert as_(ada).post(reverse("analysis_run", args=["slow"]), {"dataset": run.dataset.pk}).status_code == 403
    assert Exposure.objects.filter(person=ada, withheld=True, page__startswith="analysis").count() == 3
    assert as_(ben).get(page).status_code == 200


# API and command ----------------------------------------------------------------------------------------------------


def test_the_api_runs_lists_and_gives_one(as_: As, ada: User, rita: User, lea: User, run: Run) -> None:
    body = {"kind": "self_scoring", "dataset": run.dataset.pk, "parameters": {"second_is": run.model.name}}
    asked = as_(ada).post("/api/v1/analyses/", body, content_type="application/json")
    assert asked.status_code == 201
    assert as_(ada).post("/api/v1/analyses/", body, content_type="application/json").json()["id"] == asked.json()["id"]
    (listed,) = as_(rita).get("/api/v1/analyses/", {"kind": "self_scoring"}).json()["results"]
    assert (listed["id"], listed["state"], "result" in listed) == (asked.json()["id"], "done", False)
    whole = as_(rita).get(f"/api/v1/analyses/{listed['id']}/").json()
    assert whole["result"]["detectors"][1]["models"] == [f"{run.model.name} (simulated)"]
    kinds = {row["slug"]: row for row in as_(rita).get("/api/v1/analyses/kinds/").json()}
    assert (list(kinds), kinds["self_scoring"]["title"]) == (list(KINDS), "Self-scoring check")
    assert as_(rita).post("/api/v1/analyses/", body, content_type="application/json").status_code == 404
    for path in ("", f"{listed['id']}/", "kinds/"):
        assert as_(lea).get(f"/api/v1/analyses/{path}").status_code == 404
    odd = as_(ada).post("/api/v1/analyses/", {**body, "parameters": {"x": 1}}, content_type="application/json")
    assert odd.status_code == 400


def test_the_command_runs_all_kinds_or_one_and_writes_its_files_the_same_each_time(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in set(KINDS) - {"truncation", "persistence", "lexical"}:
        monkeypatch.delitem(KINDS, other)
    call_command("analyse", dataset="Pilot")
    told = capsys.readouterr().out
    assert "truncation: By the mean over models" in told
    assert "lexical: left out. Pilot holds no variants" in told
    written = [tmp_path / "once", tmp_path / "again"]
    for folder in written:
        call_command("analyse", "persistence", given=["loss=10"], out=folder)
    names = sorted(path.name for path in written[0].iterdir())
    wanted = ["persistence-1.csv", "persistence-1.svg", "persistence-2.csv", "persistence-2.svg", "persistence.json"]
    assert names == wanted
    assert all((written[0] / name).read_bytes() == (written[1] / name).read_bytes() for name in names)
    assert Analysis.objects.filter(kind="persistence").count() == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"args": ["x"]}, "no analysis 'x'"),
        ({"args": ["lexical"]}, "holds no variants"),
        ({"args": ["persistence"], "given": ["loss"]}, "NAME=VALUE"),
        ({"args": ["persistence"], "given": ["loss=much"]}, "loss can't be 'much'"),
        ({"args": ["persistence"], "given": ["loss=nan"]}, "loss can't be 'nan'"),
        ({"args": ["over_correction"], "seed": -1}, "not -1"),
        ({"args": [], "given": ["loss=1"]}, "name it"),
        ({"args": [], "dataset": "Other"}, "no dataset named 'Other'"),
    ],
)
def test_the_command_says_in_one_sentence_what_it_can_not_do(run: Run, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("analyse", *arguments.pop("args"), **arguments)


def test_the_command_tells_nothing_of_peoples_labels_while_they_label(
    run: Run, lea: User, slow: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "slow", Kind(**{**vars(KINDS["slow"]), "unblinded": True}))
    row = factories.label_set(run.dataset, [lea])
    with pytest.raises(CommandError, match="People still label Pilot"):
        call_command("analyse", "slow")
    assert slow == []
    type(row).objects.filter(pk=row.pk).update(state="closed", closed_at=timezone.now())
    call_command("analyse", "slow")
    assert slow == [2]
