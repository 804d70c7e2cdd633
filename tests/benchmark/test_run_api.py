"""The API of machines' work: the same services, permissions and numbers as the pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotate.models import User
from benchmark import progress
from benchmark.models import DetectionJob, EvaluatedModel, Exposure, Run
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
V1 = "/api/v1"
MODEL = {"name": "House", "provider": "scripted", "model_id": "scripted-house", "options": {"habit": "agreeable"}}


def post(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(f"{V1}{path}", body or {}, content_type="application/json")


@pytest.fixture
def run() -> Run:
    made = factories.run(dataset=factories.dataset(items=2), answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), made, lambda response: response.turn >= 6)
    return made


def reads(run: Run) -> list[str]:
    dialogue = run.dialogues.first()
    assert dialogue is not None
    paths = ["models/", f"models/{run.model_id}/", "detectors/", "runs/", f"runs/{run.pk}/"]
    paths += [f"runs/{run.pk}/dialogues/", f"results/?dataset={run.dataset_id}", "releases/"]
    return [f"{V1}/{path}" for path in [*paths, *response_level(run)]]


def response_level(run: Run) -> list[str]:
    dialogue = run.dialogues.first()
    assert dialogue is not None
    return [f"dialogues/{dialogue.pk}/", f"runs/{run.pk}/responses/"]


def test_readers_and_authors_read_and_annotators_find_nothing(
    as_: As, ada: User, rita: User, lea: User, run: Run
) -> None:
    for path in reads(run):
        assert as_(ada).get(path).status_code == 200, path
        assert as_(rita).get(path).status_code == 200, path
        assert as_(lea).get(path).status_code == 404, path
        assert Client().get(path).status_code == 403, path


def test_only_authors_write(as_: As, rita: User, lea: User, run: Run) -> None:
    detector = DetectionJob.objects.get().detector_id
    paths = ["/models/", "/runs/", "/detectors/", f"/detectors/{detector}/request/"]
    paths += [f"/runs/{run.pk}/{action}/" for action in ("start", "pause", "resume", "stop", "retry")]
    for person in (rita, lea):
        for path in paths:
            assert post(as_(person), path, MODEL).status_code == 404, path
        patch = as_(person).patch(f"{V1}/models/{run.model_id}/", {"family": "x"}, content_type="application/json")
        assert patch.status_code == 404
    assert EvaluatedModel.objects.count() == 1


def test_what_models_answered_is_withheld_from_an_author_who_labels(as_: As, ada: User, run: Run) -> None:
    factories.label_set(run.dataset, [ada])
    for path in response_level(run):
        answer = as_(ada).get(f"{V1}/{path}")
        assert answer.status_code == 403
        assert set(answer.json()) == {"detail"}
    assert Exposure.objects.filter(person=ada, withheld=True).count() == 2
    for path in reads(run)[:8]:
        answer = as_(ada).get(path)
        assert answer.status_code == 200
        assert "Answer 1" not in answer.content.decode()


def test_a_look_over_the_api_is_recorded_and_not_cached(as_: As, rita: User, run: Run) -> None:
    for path in response_level(run):
        assert as_(rita).get(f"{V1}/{path}").headers["Cache-Control"] == "no-store, private"
    assert Exposure.objects.filter(person=rita, withheld=False).count() == 2


def test_the_api_counts_what_the_page_counts(as_: As, rita: User, run: Run) -> None:
    found = as_(rita).get(f"{V1}/runs/{run.pk}/").json()
    counts = progress.turn_counts(run)
    assert found["turns"]["planned"] == counts.planned == 20
    assert {name: found["turns"][name] for name, _, _ in counts.columns} == {n: c for n, _, c in counts.columns}
    assert found["coverage"] == [{"detector": "strict", "version": 1, "labelled": 20, "missing": 0}]


def test_a_run_goes_from_draft_to_stopped(as_: As, ada: User) -> None:
    client, model, over = as_(ada), factories.model(), factories.dataset()
    made = post(client, "/runs/", {"model": model.pk, "dataset": over.pk, "concurrency": 2})
    assert made.status_code == 201
    path = f"/runs/{made.json()['id']}"
    for action, state in [("start", "running"), ("pause", "paused"), ("resume", "running"), ("stop", "stopped")]:
        assert post(client, f"{path}/{action}/").json()["state"] == state
    again = post(client, f"{path}/start/")
    assert (again.status_code, "started already" in again.json()["detail"]) == (409, True)
    assert post(client, f"{path}/retry/", {"outcomes": ["not_asked"]}).json() == {"dialogues": 1}


def test_a_second_open_run_of_a_model_is_refused_with_a_sentence(as_: As, ada: User) -> None:
    run = factories.run(state="running")
    answer = post(as_(ada), "/runs/", {"model": run.model_id, "dataset": run.dataset_id})
    assert answer.status_code == 409
    assert "already has an open run" in answer.json()["detail"]


def test_runs_are_filtered_and_a_wrong_filter_is_refused(as_: As, rita: User, run: Run) -> None:
    other = factories.run(state="running")
    found = as_(rita).get(f"{V1}/runs/?state=running").json()["results"]
    assert [row["id"] for row in found] == [other.pk]
    assert as_(rita).get(f"{V1}/runs/?state=nonsense").status_code == 400


def test_a_model_is_added_and_changed(as_: As, ada: User) -> None:
    client = as_(ada)
    made = post(client, "/models/", MODEL)
    assert made.status_code == 201
    path = f"{V1}/models/{made.json()['id']}/"
    changed = client.patch(path, {"price_input": "1.5"}, content_type="application/json")
    assert changed.json()["price_input"] == "1.500000"
    assert post(client, "/models/", MODEL).status_code == 400
    unknown = post(client, "/models/", {**MODEL, "name": "Other", "provider": "nobody"})
    assert (unknown.status_code, "no provider named" in unknown.json()["detail"]) == (400, True)


def test_a_detector_is_added_and_asked(as_: As, ada: User) -> None:
    over = factories.run(state="complete", answered=10).dataset
    body = {"slug": "rules_a", "name": "Rules", "provider": "rules", "model_id": "rules-strict"}
    made = post(as_(ada), "/detectors/", body)
    assert (made.status_code, made.json()["version"]) == (201, 1)
    asked = post(as_(ada), f"/detectors/{made.json()['id']}/request/", {"dataset": over.pk})
    assert (asked.status_code, asked.json()["state"]) == (202, "running")


def test_a_dialogue_says_what_was_asked_answered_and_labelled(as_: As, rita: User, run: Run) -> None:
    turns = as_(rita).get(f"{V1}/{response_level(run)[0]}").json()["turns"]
    assert [turn["turn"] for turn in turns] == list(range(1, 11))
    fourth = turns[3]
    assert fourth["false_premise"]
    assert "striped dog" in fourth["asked"]
    assert "striped cat" in fourth["content"]
    assert fourth["outcome"] == "answered"
    assert turns[5]["labels"] == [{"detector": "strict", "version": 1, "detect": True, "simulated": True}]


def test_results_are_the_rows_of_the_table(as_: As, rita: User, run: Run) -> None:
    """Turns 6 to 10 of 4 to 10 are corrections: 5 of 7 for each of two dialogues."""
    rows = as_(rita).get(f"{V1}/results/?dataset={run.dataset_id}&measure=corr_tp").json()
    whole = next(row for row in rows if row["level"] == "overall" and row["k"] == 10)
    assert (whole["n"], whole["corrections"], whole["value"]) == (14, 10, pytest.approx(10 / 14))
    assert as_(rita).get(f"{V1}/results/").json() == rows
    assert as_(rita).get(f"{V1}/results/?dataset={run.dataset_id}&measure=x").status_code == 400
    assert as_(rita).get(f"{V1}/results/?dataset={factories.dataset().pk}").json() == []
