"""Models and detectors in the browser: authors change them, readers read, annotators find nothing."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark.models import DetectionJob, Detector, EvaluatedModel
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]

VALUES = {
    "name": "House model",
    "family": "House",
    "provider": "openai_compatible",
    "model_id": "house-1",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": "HOUSE_KEY",
    "max_output_tokens": "256",
    "concurrency": "4",
    "options": "{}",
    "active": "on",
}
RULES = {
    "slug": "rules_new",
    "name": "Rules, new",
    "provider": "rules",
    "model_id": "rules-strict",
    "max_output_tokens": "256",
    "concurrency": "4",
    "options": '{"strictness": "strict"}',
}


def pages(model: EvaluatedModel, detector: Detector) -> dict[str, list[str]]:
    read = [reverse("model_list"), reverse("model_detail", args=[model.pk])]
    read += [reverse("detector_list"), reverse("detector_detail", args=[detector.pk])]
    read += [reverse("detector_live", args=[detector.pk])]
    write = [reverse(name) for name in ("model_new", "model_load", "detector_new")]
    write += [reverse("model_edit", args=[model.pk]), reverse("detector_version", args=[detector.pk])]
    return {"read": read, "write": write, "post": [reverse("detector_request", args=[detector.pk])]}


def test_each_page_answers_those_whom_it_is_for(as_: As, ada: User, rita: User, lea: User) -> None:
    found = pages(factories.model(), factories.detector())
    for address in found["read"] + found["write"]:
        assert as_(ada).get(address).status_code == 200, address
    for address in found["read"]:
        assert as_(rita).get(address).status_code == 200, address
    for address in found["write"]:
        assert as_(rita).get(address).status_code == 404, address
        assert as_(rita).post(address, VALUES).status_code == 404, address
    for address in found["post"]:
        assert as_(rita).post(address).status_code == 404
    for address in [*found["read"], *found["write"]]:
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address


def test_a_reader_is_offered_nothing_that_writes(as_: As, rita: User) -> None:
    page = as_(rita).get(reverse("model_detail", args=[factories.model().pk])).content.decode()
    assert reverse("run_new") not in page
    assert "/edit/" not in page


def test_the_name_of_a_key_is_shown_and_never_its_value(as_: As, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "sk-very-secret")
    model = factories.model(provider="openai_compatible", api_key_env="HOUSE_KEY")
    for address in (reverse("model_list"), reverse("model_detail", args=[model.pk])):
        page = as_(ada).get(address).content.decode()
        assert "HOUSE_KEY" in page
        assert "sk-very-secret" not in page
        assert "key missing" not in page
    monkeypatch.delenv("HOUSE_KEY")
    assert "key missing" in as_(ada).get(reverse("model_list")).content.decode()


def test_states_are_told_apart_in_words(as_: As, ada: User) -> None:
    factories.model(provider="transformers")
    factories.model(imported=True, active=False)
    factories.model(active=False)
    page = as_(ada).get(reverse("model_list")).content.decode()
    for words in ("needs the extra local", "imported", "inactive", "simulated"):
        assert words in page


def test_an_author_adds_a_model(as_: As, ada: User) -> None:
    answer = as_(ada).post(reverse("model_new"), VALUES)
    made = EvaluatedModel.objects.get()
    assert answer.headers["Location"] == reverse("model_detail", args=[made.pk])
    assert (made.name, made.provider, made.api_key_env) == ("House model", "openai_compatible", "HOUSE_KEY")
    assert made.temperature is None


def test_a_key_that_was_pasted_is_refused(as_: As, ada: User) -> None:
    page = as_(ada).post(reverse("model_new"), {**VALUES, "api_key_env": "sk-abc-123"}).content.decode()
    assert "never a key" in page
    assert not EvaluatedModel.objects.exists()


def test_a_name_that_is_taken_is_refused_and_the_typed_values_stay(as_: As, ada: User) -> None:
    factories.model("House model")
    page = as_(ada).post(reverse("model_new"), VALUES).content.decode()
    assert "already exists" in page
    assert "http://127.0.0.1:9/v1" in page


def test_editing_a_model_leaves_its_runs_as_they_were_sent(as_: As, ada: User) -> None:
    run = factories.run()
    values = {**VALUES, "name": run.model.name, "provider": "scripted", "max_output_tokens": "999"}
    answer = as_(ada).post(reverse("model_edit", args=[run.model_id]), values, follow=True)
    assert "keep the settings" in answer.content.decode()
    run.refresh_from_db()
    run.model.refresh_from_db()
    assert run.model.max_output_tokens == 999
    assert run.settings["max_output_tokens"] == 256


def test_the_catalogue_that_ships_loads_the_studys_models_and_detectors(as_: As, ada: User) -> None:
    page = as_(ada).post(reverse("model_load"), {"shipped": "1"}, follow=True).content.decode()
    assert "22 created" in page
    assert EvaluatedModel.objects.count() == 20
    assert Detector.objects.count() == 2


def test_a_malformed_catalogue_gets_one_sentence_and_the_text_stays(as_: As, ada: User) -> None:
    page = as_(ada).post(reverse("model_load"), {"text": "[[model]\nname = my typing"}).content.decode()
    assert "not valid TOML" in page
    assert "name = my typing" in page
    assert page.count('role="alert"') >= 1
    assert not EvaluatedModel.objects.exists()


def test_an_entry_that_is_wrong_leaves_nothing_half_done(as_: As, ada: User) -> None:
    good = '[[model]]\nname = "A"\nprovider = "scripted"\nmodel_id = "a"\n'
    page = as_(ada).post(reverse("model_load"), {"text": good + good}).content.decode()
    assert 'role="alert"' in page
    assert not EvaluatedModel.objects.exists()


def test_a_new_version_of_a_detector_leaves_the_old_one_alone(as_: As, ada: User) -> None:
    client = as_(ada)
    client.post(reverse("detector_new"), RULES)
    first = Detector.objects.get()
    assert (first.version, first.prompt_name, first.simulated) == (1, "detector", True)
    version = {**RULES, "options": '{"strictness": "lenient"}'}
    client.post(reverse("detector_version", args=[first.pk]), version)
    first.refresh_from_db()
    assert first.options == {"strictness": "strict"}
    assert sorted(Detector.objects.values_list("version", flat=True)) == [1, 2]


def test_a_version_with_nothing_new_is_refused(as_: As, ada: User) -> None:
    client = as_(ada)
    client.post(reverse("detector_new"), RULES)
    page = client.post(reverse("detector_new"), RULES).content.decode()
    assert 'role="alert"' in page
    assert Detector.objects.count() == 1


def test_a_detector_is_asked_over_a_dataset(as_: As, ada: User) -> None:
    run, detector = factories.run(state="complete", answered=10), factories.detector()
    answer = as_(ada).post(reverse("detector_request", args=[detector.pk]), {"dataset": run.dataset_id}, follow=True)
    job = DetectionJob.objects.get()
    assert (job.detector, job.dataset, job.state) == (detector, run.dataset, "running")
    page = answer.content.decode()
    assert "0 of 1" in page
    assert 'hx-trigger="every 2s"' in page


def test_a_job_is_paused_and_resumed(as_: As, ada: User, rita: User) -> None:
    job = factories.detector_labels(factories.detector(), factories.run(state="complete", answered=10))
    DetectionJob.objects.filter(pk=job.pk).update(state="running")
    assert as_(rita).post(reverse("job_pause", args=[job.pk])).status_code == 404
    as_(ada).post(reverse("job_pause", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "paused"
    as_(ada).post(reverse("job_resume", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "running"


def test_empty_pages_say_what_to_do_next(as_: As, ada: User) -> None:
    assert reverse("model_load") in as_(ada).get(reverse("model_list")).content.decode()
    assert reverse("model_load") in as_(ada).get(reverse("detector_list")).content.decode()
