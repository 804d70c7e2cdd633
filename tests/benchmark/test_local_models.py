"""Models of one's own machine: only workers for them ask them, in batches, and a run says when there is none."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark.models import Dialogue, EvaluatedModel, Response, Run
from benchmark.services import runs
from fpco_site import processes, supervisor
from fpco_site.celery import app
from fpco_site.errors import Invalid
from fpco_site.llm import providers, settings_rules, tasks
from fpco_site.llm.engine import hints
from fpco_site.llm.models import Worker
from fpco_site.llm.providers import LOCAL, transformers
from fpco_site.llm.providers.transformers import HOUSE, CantLoad, Said
from fpco_site.llm.types import TIMEOUT, Request
from tests import factories, services
from tests.engine import FakeProvider, run_engine, say_yes
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
As = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _quick(fast_engine: None) -> None:
    """No test here waits for longer than it has to."""


def local_model(name: str = "House model", **options: Any) -> EvaluatedModel:
    return factories.model(name, provider="transformers", model_id=f"house/{name.split()[0]}", options=options)


def started(model: EvaluatedModel, by: User, *, items: int = 2, concurrency: int = 8) -> Run:
    data = factories.dataset(items=items)
    run = runs.create(model=model, dataset=data, by=by, concurrency=concurrency)
    return runs.start(run=run, by=by)


def states(run: Run) -> set[str]:
    return set(run.dialogues.values_list("state", flat=True))


class House:
    """Stands for PyTorch: remembers which models it loaded and how many requests came at once."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.batches: list[int] = []
        self.absent: set[str] = set()

    def module(self) -> ModuleType:
        house, made = self, ModuleType("_local_model")

        class Model:
            def __init__(self, model_id: str, options: transformers.Options) -> None:
                if model_id in house.absent:
                    raise CantLoad(f"There is no model {model_id}.")
                house.loaded.append(model_id)
                self.name = model_id

            def generate(self, requests: Sequence[Request], *, cap: int, stop: Callable[[], bool]) -> list[Said]:
                house.batches.append(len(requests))
                return [Said(one.messages[-1].text.upper(), "stop", 9, 3, self.name, 0.01, b"{}") for one in requests]

            def tidy(self) -> None:
                """Nothing is kept."""

        made.Model = Model  # type: ignore[attr-defined]
        return made


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    made = House()
    monkeypatch.setitem(sys.modules, "fpco_site.llm.providers._local_model", made.module())
    monkeypatch.setattr(providers, "_local_model", sys.modules["fpco_site.llm.providers._local_model"], raising=False)
    monkeypatch.setattr(transformers, "is_installed", lambda: True)
    monkeypatch.setattr(transformers, "GATHER", 0.02)
    return made


def test_each_kind_of_worker_leaves_the_others_models_alone(ada: User) -> None:
    here, elsewhere = started(local_model(), ada), started(factories.model(), ada)
    run_engine(FakeProvider(say_yes))
    assert (states(here), states(elsewhere)) == ({"waiting"}, {"complete"})
    again = started(factories.model(), ada)
    run_engine(FakeProvider(say_yes), place=LOCAL)
    assert (states(here), states(again)) == ({"complete"}, {"waiting"})
    assert set(Worker.objects.values_list("place", flat=True)) == {"", "local"}


def test_dialogues_are_asked_in_batches_and_every_turn_once(ada: User, house: House) -> None:
    run = started(local_model(batch=4), ada, items=6)
    run_engine(place=LOCAL)
    run.refresh_from_db()
    assert run.state == "complete"
    answers = Response.objects.filter(dialogue__run=run)
    assert answers.count() == 60
    assert {answer.model_answered for answer in answers} == {"house/House"}
    first = Dialogue.objects.filter(run=run).order_by("pk")[0]
    asked = [turn.asked for turn in first.item.turns.order_by("number")]
    assert [answer.text for answer in first.responses.order_by("turn")] == [text.upper() for text in asked]
    assert sum(house.batches) == 60
    assert max(house.batches) == 4
    assert house.loaded == ["house/House"]
    assert HOUSE.held() == ""


def test_runs_of_two_models_are_done_one_after_the_other(ada: User, house: House) -> None:
    first, second = started(local_model("First model"), ada), started(local_model("Second model"), ada)
    run_engine(place=LOCAL)
    assert states(first) == states(second) == {"complete"}
    assert house.loaded == ["house/First", "house/Second"]


def test_a_model_that_cannot_be_loaded_pauses_its_run_and_says_why(ada: User, house: House) -> None:
    house.absent = {"house/House"}
    run = started(local_model(), ada)
    run_engine(place=LOCAL)
    run.refresh_from_db()
    assert run.state == "paused"
    assert run.pause_reason.startswith("There is no model house/House.")


def test_a_worker_without_the_extra_pauses_the_run_and_names_what_to_install(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformers, "is_installed", lambda: False)
    run = started(local_model(), ada)
    run_engine(place=LOCAL)
    run.refresh_from_db()
    assert run.state == "paused"
    assert "Install the extra: uv sync --extra local. Restart the worker after that" in run.pause_reason


def test_a_run_says_so_while_no_worker_for_local_models_is_at_work(ada: User, as_: As) -> None:
    run = started(local_model(), ada)
    page = reverse("run_detail", args=[run.pk])
    words = "Waiting for a worker for local models"
    Worker.objects.create(host="here", pid=1)
    assert words in as_(ada).get(page).content.decode()
    worker = Worker.objects.create(host="here", pid=2, place=LOCAL)
    assert words not in as_(ada).get(page).content.decode()
    worker.delete()
    other = started(factories.model(), ada)
    assert words not in as_(ada).get(reverse("run_detail", args=[other.pk])).content.decode()


def test_options_that_no_local_model_has_are_refused_before_a_run(ada: User) -> None:
    with pytest.raises(Invalid, match="no option 'beams'"):
        started(local_model(beams=4), ada)
    sampled = local_model("Sampled model")
    sampled.temperature = 0.7
    sampled.save()
    with pytest.raises(Invalid, match="decode greedily"):
        started(sampled, ada)


def test_a_local_model_gets_the_time_to_be_loaded(ada: User) -> None:
    run = started(local_model(), ada)
    assert run.endpoint().timeout == local_model("Other model").endpoint().timeout == settings_rules.LOCAL_TIMEOUT
    assert factories.run().endpoint().timeout == TIMEOUT


def test_the_word_that_there_is_work_goes_to_the_queue_of_local_workers(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(hints, "send", sent.append)
    started(local_model(), ada)
    assert sent == [tasks.pump_local.name]
    assert app.amqp.router.route({}, tasks.pump_local.name)["queue"].name == "local"
    assert app.amqp.router.route({}, tasks.pump.name)["queue"].name == "celery"


def test_a_worker_looks_for_the_work_of_the_queues_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(tasks, "_look", lambda process: looked.append(process.place))
    for queues, places in (({"celery"}, [""]), ({"local"}, [LOCAL]), ({"celery", "local"}, ["", LOCAL])):
        looked.clear()
        consumes = SimpleNamespace(consume_from=dict.fromkeys(queues))
        tasks.begin_at_once(sender=SimpleNamespace(app=SimpleNamespace(amqp=SimpleNamespace(queues=consumes))))
        until_true(lambda places=places: sorted(looked) == places)


def test_the_demos_worker_serves_local_models_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "is_installed", lambda: True)
    assert "celery,local" in supervisor.worker_command()
    monkeypatch.setattr(supervisor, "is_installed", lambda: False)
    assert "--queues" not in supervisor.worker_command()


def test_a_real_worker_for_local_models_takes_up_what_waits_and_nothing_else(ada: User, tmp_path: Path) -> None:
    here, elsewhere = started(local_model(), ada, items=1), started(factories.model(), ada, items=1)
    with services.temporary_folder() as folder, services.valkey(folder) as broker:
        celery = LocalCelery(broker, tmp_path)
        try:
            celery.start()
            until(lambda: Run.objects.get(pk=here.pk).state == "paused", celery)
        finally:
            celery.end()
    assert "Install the extra" in Run.objects.get(pk=here.pk).pause_reason
    assert states(elsewhere) == {"waiting"}


def test_the_catalogue_says_what_its_local_models_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers, "is_installed", lambda: False)
    said = StringIO()
    call_command("load_models", "models.toml", stdout=said)
    assert "10 of its models are local: the worker that asks them needs the extra local" in said.getvalue()


def test_an_ordinary_process_never_imports_pytorch() -> None:
    looked = (
        "import sys, django; django.setup(); import fpco_site.llm.tasks; from fpco_site.llm import providers; "
        "providers.warm('transformers'); print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True, env=environment())
    assert json.loads(done.stdout) == []


class LocalCelery(Celery):
    """A worker as a machine with GPUs starts it."""

    def start(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "fpco_site", "worker", "--queues", LOCAL]
        with open(self._folder / "worker-0.log", "wb") as log:
            self._started.append(processes.start(command, env=self._env, log=log.fileno()))


def environment() -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}


def until_true(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()
