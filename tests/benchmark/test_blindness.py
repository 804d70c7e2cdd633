"""Blindness, by trying to leak: the whole site is crawled as people who must stay blind.

Everything that must stay hidden has a name or number that is found nowhere else. Two crawls around a
change of all that is hidden must be the same to the last byte: that finds what has no name, such as a verdict.
"""

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from rest_framework import serializers

from annotate.api.labels import TaskSerializer
from annotate.models import Dataset, Label, User
from annotate.models.people import Role
from annotate.services import drafters, labels
from benchmark.models import (
    Attempt,
    DetectionJob,
    Detector,
    DetectorLabel,
    Dialogue,
    EvaluatedModel,
    Exposure,
    Opened,
    Response,
    ResultSet,
    Run,
    ValidationItem,
    ValidationSet,
)
from benchmark.services import spending, validation
from tests import factories
from tests.crawl import ORDERINGS, Crawl, Reply, parameters

As = Callable[[User], Client]
SEED = 730073007
ANSWER = re.compile(r"zq\d{9}zq")
OWN_WORDS = {"canary", "quillon"}  # the author's name and comment hold these
OWN_FILES = re.compile(r"/validation/\d+/labels\.")  # an author who labels gets their own labels there
_DIGITS = re.compile(r"\d{9,}")
WORDS = ("corr_tp", "corr_tp.csv", "canary-detector", "Canary Model A", "identity", "H1", "H2", "json", "svg")
LABEL_PAGES = ("/label/", "/api/v1/label-sets/", "/api/v1/label-tasks/", "/api/v1/adjudications/")
# Values that find what is hidden without holding it: a page that echoes them tells nothing.
WORD, NUMBER, ORDER = "anary", "771000001", "-run__model__name"
ADMIN = tuple(f"/admin/{page}" for page in ("", "annotate/label/", "annotate/user/", "benchmark/validationitem/"))


@dataclass(frozen=True)
class House:
    """A study with everything in it, open for two annotators: Lea and an author who labels too."""

    dataset: Dataset
    row: ValidationSet
    lea: User
    author: User

    def answers_of(self, who: User) -> set[str]:
        """The marks of the answers that this person labels."""
        tasks = labels.tasks_in_order(self.row.label_set.assignments.get(person=who))
        return {mark for task in tasks for mark in ANSWER.findall(task.response)}


@pytest.fixture(autouse=True)
def _quiet(settings: Any) -> Iterator[None]:
    """Thousands of addresses that do not exist are not worth a line each, nor a query for the session."""
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def house(db: None) -> House:
    lea = factories.person("lea", Role.ANNOTATOR)
    author = factories.person("benquillon", Role.AUTHOR, first_name="Benquillonfirst")
    ada = factories.person("adaquillon", Role.AUTHOR, email="adaquillon@mail.example")
    factories.person("louquillon", Role.ANNOTATOR)
    drafters.default()  # whoever opens the drafting page first makes it
    over = factories.dataset("Quince", items=6, manifest={"note": "canary-manifest"})
    for number, name in enumerate("AB"):
        run_of(over, name, number)
    row = validation.open(dataset=over, annotators=[lea, author], by=ada, per_cell=2, seed=SEED)
    ResultSet.objects.update(name="canary-result-set")
    say(row, lea, comment="mine alone", detect=True, n=3)
    say(row, author, comment="canary-comment-of-another", detect=False, n=4)
    return House(over, row, lea, author)


def run_of(over: Dataset, name: str, number: int) -> Run:
    model = EvaluatedModel.objects.create(
        pk=661000001 + number,
        name=f"Canary Model {name}",
        family="CanaryFamily",
        provider="scripted",
        model_id=f"canary-endpoint-{name}",
        base_url="http://canary-host.example/v1",
        api_key_env="CANARY_KEY",
    )
    run = Run.objects.create(
        pk=771000001 + number, model=model, dataset=over, state="complete", simulated=True, settings=model.settings()
    )
    spending.open_run(run=run)
    for at, item in enumerate(over.items.order_by("key")):
        base = 881000000 + 100000 * number + 1000 * at
        dialogue = Dialogue.objects.create(pk=base, run=run, item=item, state="complete")
        Response.objects.bulk_create(
            Response(
                pk=base + turn,
                dialogue=dialogue,
                turn=turn,
                text=f"It rests by the wall zq{base + turn - 500000000}zq.",
                finish_reason="canary-finish",
                model_answered="canary-model-answered",
                raw=b"canary-raw",
            )
            for turn in range(1, 11)
        )
        Attempt.objects.bulk_create(
            Attempt(
                pk=base + turn,
                dialogue=dialogue,
                turn=turn,
                outcome="answered",
                started_at=over.created_at,
                request_id="canary-request",
                reason="canary-reason",
            )
            for turn in range(1, 11)
        )
    judge(run)
    return run


def judge(run: Run) -> None:
    """Two detectors that are true on the even turns of every other item."""
    for number, slug in enumerate(("canary-detector", "canary-second")):
        detector, _ = Detector.objects.get_or_create(
            pk=991000001 + number,
            defaults={
                "slug": slug,
                "name": f"Canary Detector {number}",
                "provider": "rules",
                "model_id": "canary-judge",
            },
        )
        job, _ = DetectionJob.objects.get_or_create(
            detector=detector, dataset=run.dataset, defaults={"state": "complete"}
        )
        spending.open_job(job=job)
        for at, dialogue in enumerate(run.dialogues.order_by("pk")):
            job.detections.create(detector=detector, dialogue=dialogue, state="complete")
            DetectorLabel.objects.bulk_create(
                DetectorLabel(
                    pk=response.pk + number * 50,
                    response=response,
                    detector=detector,
                    dialogue=dialogue,
                    turn=response.turn,
                    detect=response.turn % 2 == 0 and at % 2 == number,
                )
                for response in dialogue.responses.all()
            )
    Run.objects.filter(pk=run.pk).update(patterns_dirty=True)


def say(row: ValidationSet, who: User, *, comment: str, detect: bool, n: int) -> None:
    mine = row.label_set.assignments.get(person=who)
    for task in labels.tasks_in_order(mine)[:n]:
        labels.record(
            assignment=mine, task=task, detect=detect, comment=comment, client=uuid.uuid4(), sequence=1, seconds=1.0
        )


def probes() -> list[str]:
    """Every name that some page asks for, at once: with a word (or to order by what is hidden), and with a number."""
    names = parameters()
    words = {name: ORDER if name in ORDERINGS else WORD for name in names}
    return [urlencode(words), urlencode(dict.fromkeys(names, NUMBER))]


def leaks(replies: Iterable[Reply], forbidden: Iterable[str]) -> list[str]:
    """Each forbidden word with the address that tells it; an address may repeat what it was asked with."""
    words = {word.lower() for word in forbidden}
    numbers = {word for word in words if word.isdecimal()}
    told: dict[str, set[str]] = {}
    found = []
    for reply in replies:
        text = reply.everything.lower()
        if text not in told:
            told[text] = {word for word in words - numbers if word in text} | _numbers(text, numbers)
        found += [f"{reply.method} {reply.url}: {word}" for word in sorted(told[text]) if word not in reply.url.lower()]
    return found


def _numbers(text: str, wanted: set[str]) -> set[str]:
    """Those of many numbers that a text holds, be it within longer ones."""
    runs = set(_DIGITS.findall(text))
    return wanted & runs | {number for run in runs - wanted if len(run) > 9 for number in wanted if number in run}


def is_own(url: str) -> bool:
    """Whether an address is one where a person works on tasks of their own."""
    return url.startswith(LABEL_PAGES) or OWN_FILES.match(url) is not None


def foreign_answers(replies: Iterable[Reply], own: set[str]) -> list[str]:
    """Answers that are not among one's own tasks, and own ones anywhere but where one labels."""
    found = []
    for reply in replies:
        allowed = own if is_own(reply.url) else set()
        found += [f"{reply.method} {reply.url}: {mark}" for mark in set(ANSWER.findall(reply.everything)) - allowed]
    return found


def hidden_from_annotators(house: House) -> list[str]:
    """Every name and number of a model, a run, a detector, a verdict and another person."""
    tables = (EvaluatedModel, Run, Dialogue, Response, Attempt, Detector, DetectorLabel)
    return [
        "canary",
        "quillon",
        str(SEED),
        *(str(pk) for table in tables for pk in table.objects.values_list("pk", flat=True)),
    ]


# A person who only annotates ------------------------------------------------------------------------


def test_lea_finds_nothing_hidden_anywhere_and_nothing_that_she_sees_depends_on_it(house: House, as_: As) -> None:
    """Every address with every id, every parameter and method; once more after all that is hidden has changed."""
    client, hidden = as_(house.lea), hidden_from_annotators(house)
    crawl, replies = everywhere(client)
    visited = {reply.url for reply in replies if reply.status == 200}
    assert f"/label/{house.row.label_set_id}/" in visited
    assert f"/api/v1/label-sets/{house.row.label_set_id}/tasks/" in visited
    assert any(ANSWER.search(reply.body) for reply in replies), "The crawl did not reach Lea's own tasks."
    assert_nothing_told(replies, hidden, house.answers_of(house.lea))
    change_all_that_is_hidden(house)
    assert_same(replies, again(crawl))
    assert_nothing_told(crawl.press(), hidden, house.answers_of(house.lea))


def test_a_submitted_set_tells_lea_nothing_more(house: House, as_: As) -> None:
    say(house.row, house.lea, comment="mine alone", detect=True, n=99)
    labels.submit(assignment=house.row.label_set.assignments.get(person=house.lea))
    assert_nothing_told(within_labelling(as_(house.lea)), hidden_from_annotators(house), house.answers_of(house.lea))


def test_disagreements_of_a_closed_set_tell_lea_no_name_and_no_machine(house: House, as_: As) -> None:
    for who, detect in ((house.lea, True), (house.author, False)):
        say(house.row, who, comment="in my own words", detect=detect, n=99)
    validation.close(validation_set=house.row, by=house.author)
    replies = within_labelling(as_(house.lea))
    assert any("/decisions/" in reply.url and ANSWER.search(reply.body) for reply in replies)
    assert_nothing_told(replies, hidden_from_annotators(house), house.answers_of(house.lea))


# An author with an open assignment ------------------------------------------------------------------


def test_an_author_who_labels_finds_no_answer_and_nothing_depends_on_a_single_verdict(house: House, as_: As) -> None:
    client, own = as_(house.author), house.answers_of(house.author)
    hidden = ["canary-raw", "canary-finish", "mine alone", str(SEED)]
    crawl, replies = everywhere(client)
    assert any(ANSWER.search(reply.body) for reply in replies), "The crawl did not reach the author's own tasks."
    assert_nothing_told(replies, hidden, own)
    mine = [reply for reply in replies if is_own(reply.url)]
    machines = {
        "canary model",
        "canaryfamily",
        "canary-detector",
        "canary-second",
        "canary-endpoint",
        "canary-result-set",
    }
    assert leaks(mine, {*hidden_from_annotators(house), *machines, "adaquillon"} - OWN_WORDS) == []
    swap_verdicts_within_a_cell(house)
    assert_same(replies, again(crawl))
    assert_nothing_told(crawl.press(), hidden, own)


def test_an_author_without_an_assignment_is_not_blind(house: House, as_: As) -> None:
    """The contrary: the same crawl finds seed and people where nobody labels, in the PDF of the report too."""
    house.row.label_set.assignments.filter(person=house.author).update(state="submitted")
    found = leaks(Crawl(as_(house.author), WORDS, ("/validation/",)).run(), [str(SEED)])
    assert any("blindness.pdf" in leak for leak in found)
    assert any(leak.startswith(f"GET /validation/{house.row.pk}/: ") for leak in found)


def test_there_is_no_admin(house: House, as_: As) -> None:
    for who in (house.lea, house.author):
        assert {as_(who).get(url).status_code for url in ADMIN} == {404}


def assert_nothing_told(replies: list[Reply], hidden: list[str], own: set[str]) -> None:
    assert leaks(replies, hidden) == []
    assert foreign_answers(replies, own) == []
    assert [f"{reply.method} {reply.url}" for reply in replies if reply.status >= 500] == []


def assert_same(before: list[Reply], after: list[Reply]) -> None:
    """The same replies at the same addresses, but for what is random in each reply."""
    first = {reply.url: seen(reply) for reply in before}
    second = {reply.url: seen(reply) for reply in after}
    assert second
    assert {url for url in second if first[url] != second[url]} == set()


def everywhere(client: Client) -> tuple[Crawl, list[Reply]]:
    """The whole site, from a record in which nobody has looked at anything."""
    forget_looks()
    crawl = Crawl(client, WORDS)
    return crawl, list(crawl.run(probes=probes()))


def again(crawl: Crawl) -> list[Reply]:
    forget_looks()
    return crawl.again()


def forget_looks() -> None:
    """How often somebody was refused is on record, and the record on a page of theirs."""
    Exposure.objects.all().delete()
    Opened.objects.all().delete()


def within_labelling(client: Client) -> list[Reply]:
    return Crawl(client, WORDS, LABEL_PAGES).run()


# The tests themselves -------------------------------------------------------------------------------


def tell(request: HttpRequest, pk: int) -> HttpResponse:
    response = Response.objects.filter(pk=pk).first()
    return HttpResponse(response.text if response else '<a href="/hidden/">more</a>', content_type="text/html")


def whisper(request: HttpRequest) -> HttpResponse:
    return HttpResponse("", headers={"X-Run": "771000001"})


class Leaky:
    """An address with an answer, and a page that only a link leads to."""

    urlpatterns = [path("tell/<int:pk>/", tell), path("hidden/", whisper)]


def test_the_crawl_finds_a_leaking_address_and_header(house: House, as_: As, settings: Any) -> None:
    settings.ROOT_URLCONF = Leaky
    replies = Crawl(as_(house.lea)).run()
    assert any("zq" in leak for leak in foreign_answers(replies, house.answers_of(house.lea)))
    assert leaks(replies, ["771000001"]) == ["GET /hidden/: 771000001"]


def test_a_field_added_to_a_serializer_by_mistake_is_found(
    house: House, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_model(self: TaskSerializer, task: Any) -> str:
        return ValidationItem.objects.get(task=task).response.dialogue.run.model.name

    monkeypatch.setattr(TaskSerializer, "get_model", get_model, raising=False)
    monkeypatch.setitem(TaskSerializer._declared_fields, "model", serializers.SerializerMethodField())
    assert any("/label-sets/" in leak for leak in leaks(within_labelling(as_(house.lea)), ["canary model"]))


def test_a_verdict_added_by_mistake_is_found(house: House, as_: As, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_hint(self: TaskSerializer, task: Any) -> bool:
        return DetectorLabel.objects.filter(response=ValidationItem.objects.get(task=task).response).first().detect

    monkeypatch.setattr(TaskSerializer, "get_hint", get_hint, raising=False)
    monkeypatch.setitem(TaskSerializer._declared_fields, "hint", serializers.SerializerMethodField())
    client = as_(house.lea)
    crawl = Crawl(client, WORDS, LABEL_PAGES)
    before = list(crawl.run())
    change_all_that_is_hidden(house)
    with pytest.raises(AssertionError, match="/label-sets/"):
        assert_same(before, crawl.again())


# Two worlds -----------------------------------------------------------------------------------------

_CHANCE = (
    (re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"'), ""),
    (re.compile(r'name="csrf-token" content="[^"]*"'), ""),
    (re.compile(r'name="client" value="[^"]*"'), ""),
    (re.compile(r'nonce[-=]"?[\w+/=-]+"?'), ""),
    (re.compile(r"(?m)^(Set-Cookie|Expires|Last-Modified|Date): .*$"), ""),
    (re.compile(r"\b(now|(\d+|a|an) (second|minute)s? ago)\b"), ""),
)


def seen(reply: Reply) -> str:
    """What came back, without what is random in each reply."""
    return f"{reply.status} {_without_chance(reply.everything)}"


def _without_chance(text: str) -> str:
    for pattern, instead in _CHANCE:
        text = pattern.sub(instead, text)
    return text


def change_all_that_is_hidden(house: House) -> None:
    """Other names, other verdicts, other labels of the other person: nothing that annotators may know."""
    set_verdicts(lambda label: not label.detect)
    for model in EvaluatedModel.objects.all():
        EvaluatedModel.objects.filter(pk=model.pk).update(name=f"Other {model.pk}", family="Else")
    Detector.objects.update(name="Other judge")
    Run.objects.update(simulated=False)
    mine = house.row.label_set.assignments.get(person=house.author)
    for label in Label.objects.filter(assignment=mine):
        labels.record(
            assignment=mine, task=label.task, detect=not label.detect, unsure=True, client=uuid.uuid4(), sequence=1
        )


def swap_verdicts_within_a_cell(house: House) -> None:
    """Exchange all verdicts of two dialogues of the same model and cell: every aggregate stays what it is."""
    items = house.dataset.items.filter(premise_class="identity").order_by("key")
    of = {(label.dialogue_id, label.detector_id, label.turn): label.detect for label in DetectorLabel.objects.all()}
    other: dict[int, int] = {}
    for run in Run.objects.filter(dataset=house.dataset):
        first, second = (run.dialogues.get(item=item).pk for item in items)
        other |= {first: second, second: first}
        assert any(of[first, detector, turn] != of[second, detector, turn] for _, detector, turn in of)
    set_verdicts(lambda label: of[other.get(label.dialogue_id, label.dialogue_id), label.detector_id, label.turn])


def set_verdicts(verdict: Callable[[DetectorLabel], bool]) -> None:
    rows = list(DetectorLabel.objects.all())
    DetectorLabel.objects.all().delete()
    for row in rows:
        row.detect = verdict(row)
    DetectorLabel.objects.bulk_create(rows)
    Run.objects.update(patterns_dirty=True)
