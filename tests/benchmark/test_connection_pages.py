"""Connections in the browser, by command and over the API: readers read, authors test, annotators find nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark.models import ConnectionCall, ConnectionTest, EvaluatedModel
from fpco_site.llm.connection import sight
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]


def done(model: EvaluatedModel, **more: Any) -> ConnectionTest:
    """A test that is over, green unless `more` says otherwise."""
    values: dict[str, Any] = {
        "state": "done",
        "verdict": "passed",
        "settings": model.settings(),
        "shown": sight.fresh().as_json(),
    }
    values["checks"] = [{"name": "picture", "mark": "good", "words": "It read 417."}]
    test = ConnectionTest.objects.create(model=model, **(values | more))
    ConnectionCall.objects.create(
        test=test,
        step="look",
        outcome="answered",
        started_at=test.requested_at,
        text="<b>417</b> red",
        raw=b'{"raw": "<script>"}',
    )
    return test


def addresses(test: ConnectionTest) -> tuple[list[str], list[str]]:
    """What is read and what is posted to."""
    one = ("connection_detail", "connection_one_live", "connection_picture")
    read = [reverse("connection_list"), reverse("connection_live"), *(reverse(name, args=[test.pk]) for name in one)]
    write = [reverse("connection_request_all"), reverse("connection_leave_out", args=[test.pk])]
    write += [reverse(name, args=["model", test.model_id]) for name in ("connection_request", "connection_send_again")]
    return read, write


def test_each_page_answers_those_whom_it_is_for(as_: As, ada: User, rita: User, lea: User) -> None:
    read, write = addresses(done(factories.model(provider="openai", model_id="m")))
    for address in read:
        assert as_(ada).get(address).status_code == 200, address
        assert as_(rita).get(address).status_code == 200, address
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address
    for address in write:
        for who in (rita, lea):
            assert as_(who).post(address, {"name": "temperature"}).status_code == 404, address
        assert as_(ada).get(address).status_code == 405, address
    assert ConnectionTest.objects.count() == 1
    page = as_(rita).get(read[0]).content.decode()
    assert write[0] not in page
    assert write[2] not in page


def test_two_clicks_on_test_make_one_test(as_: As, ada: User) -> None:
    address = reverse("connection_request", args=["model", factories.model().pk])
    as_(ada).post(address)
    answer = as_(ada).post(address, {"details": "1"}, follow=True)
    test = ConnectionTest.objects.get()
    assert (test.state, test.requested_by) == ("waiting", ada)
    assert "Waits for a worker." in answer.content.decode()
    live = as_(ada).get(reverse("connection_live")).content.decode()
    assert 'hx-trigger="every 2s"' in live
    ConnectionTest.objects.update(state="done", verdict="simulated")
    assert "hx-trigger" not in as_(ada).get(reverse("connection_live")).content.decode()
    assert as_(ada).post("/connections/person/1/test/").status_code == 404


def test_all_are_tested_with_their_number_said_before(as_: As, ada: User) -> None:
    factories.model()
    factories.model(active=False)
    factories.model(imported=True)
    factories.detector()
    page = as_(ada).get(reverse("connection_list")).content.decode()
    assert "Test all 2" in page
    assert "about 4 short calls" in page
    as_(ada).post(reverse("connection_request_all"))
    assert ConnectionTest.objects.count() == 2


def test_a_refused_setting_is_left_out_by_a_button_and_sent_again_by_another(as_: As, ada: User, rita: User) -> None:
    model = factories.model(provider="openai", model_id="m", temperature=0.7)
    test = done(model, refused={"temperature": "It does not support 0.7."})
    detail = reverse("connection_detail", args=[test.pk])
    assert ">Leave it out<" in as_(ada).get(detail).content.decode()
    assert ">Leave it out<" not in as_(rita).get(detail).content.decode()
    page = as_(ada).post(reverse("connection_leave_out", args=[test.pk]), {"name": "temperature"}, follow=True)
    assert "left out, as confirmed" in page.content.decode()
    model.refresh_from_db()
    assert model.not_sent == {"temperature": "It does not support 0.7."}
    facts = as_(rita).get(reverse("model_detail", args=[model.pk])).content.decode()
    assert "It does not support 0.7." in facts
    as_(ada).post(reverse("connection_send_again", args=["model", model.pk]), {"name": "temperature"})
    model.refresh_from_db()
    assert model.not_sent == {}
    refused = as_(ada).post(reverse("connection_leave_out", args=[test.pk]), {"name": "system"})
    assert refused.status_code == 409


def test_what_a_model_said_is_text(as_: As, ada: User) -> None:
    page = as_(ada).get(reverse("connection_detail", args=[done(factories.model()).pk])).content.decode()
    assert "&lt;b&gt;417&lt;/b&gt; red" in page
    assert "{&quot;raw&quot;: &quot;&lt;script&gt;&quot;}" in page


def test_a_new_run_warns_of_models_without_a_green_test(as_: As, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    model = factories.model("Bold", provider="openai", model_id="m")
    simulated, dataset = factories.model("Offline"), factories.dataset()
    asked: dict[str, Any] = {"dataset": dataset.pk, "models": [model.pk, simulated.pk]}
    page = as_(ada).get(reverse("run_estimate"), asked).content.decode()
    assert "Bold (untested)" in page
    assert "Offline (" not in page
    assert reverse("connection_list") in page
    done(model)
    assert "Bold (" not in as_(ada).get(reverse("run_estimate"), asked).content.decode()


def test_the_api_lists_tests_and_takes_wishes(as_: As, ada: User, rita: User, lea: User) -> None:
    model = factories.model()
    address = "/api/v1/connections/"
    assert as_(lea).get(address).status_code == 404
    for who in (rita, lea):
        assert as_(who).post(address, {"model": model.pk}, "application/json").status_code == 404
    assert as_(ada).post(address, {}, "application/json").status_code == 400
    made = as_(ada).post(address, {"model": model.pk}, "application/json")
    assert (made.status_code, made.json()["state"]) == (202, "waiting")
    assert as_(ada).post(address, {"model": model.pk}, "application/json").json()["id"] == made.json()["id"]
    assert as_(rita).get(address).json()["results"][0]["model"] == model.pk
    assert as_(rita).get(f"{address}{made.json()['id']}/").json()["checks"] == []


def test_the_command_ends_badly_with_one_sentence_where_something_is_red(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offline, bold = factories.model("Offline"), factories.model("Bold", provider="openai", model_id="m")

    def end(*_: Any, **__: Any) -> None:
        for test in ConnectionTest.objects.exclude(state="done"):
            red = test.model == bold
            test.state, test.verdict = "done", "failed" if red else "simulated"
            test.checks = [{"name": "key", "mark": "bad", "words": "No key."}] if red else []
            test.save()

    monkeypatch.setattr("benchmark.management.waiting.wait", end)
    call_command("check_models", "Offline")
    assert "Offline: simulated." in capsys.readouterr().out
    with pytest.raises(CommandError, match=r"1 of 2 can't be asked as they are: Bold\."):
        call_command("check_models")
    assert "Bold: failed. No key." in capsys.readouterr().out
    with pytest.raises(CommandError, match="no model named"):
        call_command("check_models", "Nobody")
    assert offline.tests.count() == 2


def test_waiting_seconds_are_set_by_form_and_catalogue(as_: As, ada: User) -> None:
    values = {"name": "Slow", "provider": "scripted", "model_id": "s", "max_output_tokens": "9", "concurrency": "1"}
    as_(ada).post(reverse("model_new"), {**values, "options": "{}", "timeout": "300"})
    assert EvaluatedModel.objects.get().endpoint().timeout == 300
    entry = '[[model]]\nname = "Slow"\nfamily = "F"\nprovider = "scripted"\nmodel_id = "s"\ntimeout = 45\n'
    as_(ada).post(reverse("model_load"), {"text": entry})
    assert EvaluatedModel.objects.get().settings()["timeout"] == 45
    page = as_(ada).post(reverse("model_load"), {"text": entry.replace("45", "0")}).content.decode()
    assert "number of seconds from 1 to 3600" in page
