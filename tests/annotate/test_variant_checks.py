"""Candidate checks: three families look at each wording and see no results; a person decides."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from annotate.models import Drafter, Item, User, VariantCheck
from annotate.services import variant_checks, variants
from annotate.services.variant_check_work import VariantCheckWork
from fpco_site.errors import Conflict, Invalid, NotConfigured
from fpco_site.llm import prompts, simulated
from fpco_site.llm.engine import Call, Claim, Fault
from fpco_site.llm.models import Worker
from fpco_site.llm.simulated import checker as scripted
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Usage
from fpco_site.llm.variant_checks import QUESTIONS, parse
from tests import factories
from tests.engine import run_engine

pytestmark = [pytest.mark.db, pytest.mark.django_db]
FOX = "the striped fox on the chair"


def said(**changes: Any) -> str:
    return json.dumps({**dict.fromkeys(QUESTIONS, True), "reason": "A striped cat sits on a chair.", **changes})


@pytest.fixture
def candidate(ada: User) -> Item:
    parent = factories.item(state="approved")
    made = variants.choose(parent=parent, by=ada)
    return variants.save(move=variants.Move(made[0], 1, FOX, ""), by=ada)


@pytest.fixture
def checker() -> Drafter:
    return variant_checks.scripted_checkers()[0]


def ask(item: Item, by: User, *checkers: Drafter) -> variant_checks.Asked:
    return variant_checks.request(variants=[item], checkers=checkers, by=by)


def claimed() -> Claim[Any]:
    work = VariantCheckWork()
    [claim] = work.claim(room=1, worker=Worker.objects.create(host="here", pid=1).pk)
    return work.open(claim)


def answer(claim: Claim[Any], text: str | None = None, error: ProviderError | None = None) -> Claim[Any] | None:
    """Record one call, as the engine does."""
    work = VariantCheckWork()
    usage = Usage(input=100, cached=20, output=10)
    reply = Reply(Outcome.ANSWERED, text, model="m-1", raw=(text or "").encode(), usage=usage) if not error else None
    fault = Fault.EVERYBODYS if error else None
    call = Call(claim, work.request(claim), timezone.now(), 0.5, reply=reply, error=error, fault=fault)
    [after] = work.record([call])
    return after


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_three_scripted_families_check_a_candidate_through_the_engine(
    ada: User, candidate: Item, fast_engine: None
) -> None:
    ask(candidate, ada, *variant_checks.scripted_checkers())
    run_engine()
    rows = list(VariantCheck.objects.all())
    assert [(row.state, row.simulated, row.error) for row in rows] == [("ready", True, "")] * 3
    assert len({row.family for row in rows}) == 3
    assert all((row.payload or {})["of_class"] is True for row in rows)


def test_a_checker_sees_the_picture_and_the_wording_and_nothing_else(
    ada: User, candidate: Item, checker: Drafter
) -> None:
    ask(candidate, ada, checker)
    claim = claimed()
    request = VariantCheckWork().request(claim)
    assert json.loads(request.messages[0].text) == {
        "premise_class": "identity",
        "target_description": "the striped cat on the chair",
        "modified_target_description": FOX,
        "content": "What is the closest thing to the striped cat on the chair?",
        "modified": "What is the closest thing to the striped fox on the chair?",
    }
    with candidate.image.file.open("rb") as file:
        assert request.picture is not None
        assert request.picture.data == file.read()
    assert answer(claim, said(natural=False)) is None
    row = VariantCheck.objects.get()
    assert (row.state, row.item_version, row.model_answered) == ("ready", candidate.version, "m-1")
    assert row.payload == {
        **dict.fromkeys(QUESTIONS, True),
        "natural": False,
        "reason": "A striped cat sits on a chair.",
    }
    prompt = prompts.load("check_variant")
    assert (row.prompt_version, row.prompt_sha256) == (str(prompt.version), prompt.sha256)
    assert json.loads(row.request or b"")["system"] == prompt.text
    assert json.loads(row.request or b"")["picture_sha256"] == candidate.image.sha256
    assert row.reply == said(natural=False).encode()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Sure! {}", "not JSON"),
        (said(natural="yes"), "'natural' is neither true nor false"),
        (said(reason=" "), "'reason' is not a text"),
        (said(score=3), "not asked for: 'score'"),
        (json.dumps({"natural": True}), "lacks"),
    ],
)
def test_a_verdict_is_read_strictly(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        parse(text)


def test_an_unreadable_reply_is_asked_for_once_more_and_then_shown_as_failed(
    ada: User, candidate: Item, checker: Drafter
) -> None:
    ask(candidate, ada, checker)
    again = answer(claimed(), "I think so.")
    assert again is not None
    assert VariantCheck.objects.get().state == "running"
    assert answer(again, "Still prose.") is None
    row = VariantCheck.objects.get()
    assert (row.state, row.reply, row.payload, row.tries) == ("failed", b"Still prose.", None, 2)
    assert (row.input_tokens, row.error) == (200, "The reply is not JSON.")
    assert ask(candidate, ada, checker).made == 1  # what failed can be asked again


def test_the_second_reply_may_mend_the_first(ada: User, candidate: Item, checker: Drafter) -> None:
    ask(candidate, ada, checker)
    again = answer(claimed(), "I think so.")
    assert again is not None
    answer(again, said())
    assert (VariantCheck.objects.get().state, VariantCheck.objects.get().error) == ("ready", "")


def test_a_count_of_unreadable_replies_outlives_the_worker(ada: User, candidate: Item, checker: Drafter) -> None:
    ask(candidate, ada, checker)
    claim = claimed()
    answer(claim, "I think so.")
    VariantCheckWork().free(VariantCheck.objects.get().lease_worker_id)  # type: ignore[arg-type]
    assert answer(claimed(), "Still prose.") is None
    assert VariantCheck.objects.get().state == "failed"


def test_an_answer_under_an_old_token_is_left_out(ada: User, candidate: Item, checker: Drafter) -> None:
    ask(candidate, ada, checker)
    claim = claimed()
    VariantCheck.objects.update(lease_token=uuid4())
    assert answer(claim, said()) is None
    assert (VariantCheck.objects.get().state, VariantCheck.objects.get().payload) == ("running", None)


def test_a_wording_is_asked_about_once_and_a_new_one_anew(ada: User, candidate: Item, checker: Drafter) -> None:
    assert ask(candidate, ada, checker) == variant_checks.Asked(made=1, present=0, incomplete=0)
    assert ask(candidate, ada, checker) == variant_checks.Asked(made=0, present=1, incomplete=0)
    variants.submit(parent=candidate.parent, by=ada)  # type: ignore[arg-type]  # a new version of the same wording
    candidate.refresh_from_db()
    assert ask(candidate, ada, checker).made == 0
    other = variants.save(move=variants.Move(candidate, candidate.version, "the striped owl on the chair", ""), by=ada)
    assert ask(other, ada, checker).made == 1


def test_what_is_not_complete_is_not_asked_about(ada: User, candidate: Item, checker: Drafter) -> None:
    rows = variant_checks.rows_for(candidate.parent)
    assert variant_checks.request(variants=rows, checkers=[checker], by=ada) == variant_checks.Asked(1, 0, 5)


def test_checks_are_stopped_and_go_on(ada: User, candidate: Item) -> None:
    checkers = variant_checks.scripted_checkers()
    ask(candidate, ada, *checkers)
    claim = claimed()
    assert variant_checks.stop() == 3  # one is in flight: it ends and is kept
    answer(claim, said())
    assert not VariantCheckWork().pending()
    assert variant_checks.go_on() == 2
    assert VariantCheckWork().pending()


def test_a_check_that_meets_a_stop_is_not_asked_again_before_it_goes_on(ada: User, candidate: Item) -> None:
    ask(candidate, ada, *variant_checks.scripted_checkers()[:2])
    prose, killed = claimed(), claimed()
    variant_checks.stop()
    assert VariantCheckWork().open_groups({prose.group, killed.group}) == set()  # also those at a closed gate leave
    assert answer(prose, "I think so.") is None
    VariantCheckWork().free(VariantCheck.objects.get(pk=killed.id).lease_worker_id)  # type: ignore[arg-type]
    assert set(VariantCheck.objects.values_list("state", "lease_token")) == {("stopped", None)}
    assert not VariantCheckWork().pending()
    assert variant_checks.go_on() == 2
    assert set(VariantCheck.objects.values_list("state", flat=True)) == {"waiting"}


def test_what_is_in_flight_while_it_is_stopped_and_continued_is_paid_for_once(ada: User, candidate: Item) -> None:
    [checker, *_] = variant_checks.scripted_checkers()
    ask(candidate, ada, checker)
    claim = claimed()
    variant_checks.stop()
    assert variant_checks.go_on() == 1
    assert VariantCheckWork().claim(room=1, worker=Worker.objects.create(host="there", pid=2).pk) == []
    assert answer(claim, said()) is None
    assert VariantCheck.objects.get().state == "ready"


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(ErrorKind.TRANSIENT, "Connection refused."),
        ProviderError(ErrorKind.PERMANENT, "You ran out.", status=429, code="insufficient_quota"),
    ],
)
def test_a_provider_that_is_out_stops_the_checks_instead_of_failing_them_one_by_one(
    ada: User, candidate: Item, checker: Drafter, error: ProviderError
) -> None:
    ask(candidate, ada, checker)
    answer(claimed(), error=error)
    assert VariantCheck.objects.get().state == "stopped"
    assert variant_checks.spent()[0].error.endswith("then continue.")
    variant_checks.go_on()
    answer(claimed(), error=ProviderError(ErrorKind.PERMANENT, "A bad picture.", status=400))
    assert VariantCheck.objects.get().state == "failed"


@pytest.mark.parametrize("lost", [{"prompt_sha256": "0" * 64}, {"prompt_version": "77"}])
def test_a_prompt_that_is_gone_stops_its_checker_and_no_other(ada: User, candidate: Item, lost: dict[str, str]) -> None:
    first, second, _ = variant_checks.scripted_checkers()
    ask(candidate, ada, first, second)
    VariantCheck.objects.filter(checker=first).update(**lost)
    assert claimed().group == second.pk
    [spent, _] = variant_checks.spent()
    assert (spent.states, "prompt" in spent.error) == ({"stopped": 1}, True)


def test_a_refused_key_stops_what_waits_for_that_checker_and_says_why(ada: User, candidate: Item) -> None:
    first, second, _ = variant_checks.scripted_checkers()
    other = variants.save(
        move=variants.Move(candidate.parent.variants.all()[1], 1, "the striped owl on the chair", ""),  # type: ignore[union-attr]
        by=ada,
    )
    variant_checks.request(variants=[candidate, other], checkers=[first, second], by=ada)
    answer(claimed(), error=ProviderError(ErrorKind.PERMANENT, "The key is refused.", status=401))
    states = list(VariantCheck.objects.order_by("checker", "pk").values_list("checker", "state"))
    assert states == [(first.pk, "stopped"), (first.pk, "stopped"), (second.pk, "waiting"), (second.pk, "waiting")]
    [spent, _] = variant_checks.spent()
    assert spent.error.startswith("The key is refused. Check the key in")


def test_a_checker_checks_no_more_at_once_than_it_may(ada: User, candidate: Item, checker: Drafter) -> None:
    Drafter.objects.update(concurrency=1)
    other = variants.save(move=variants.Move(candidate.parent.variants.all()[1], 1, FOX, ""), by=ada)  # type: ignore[union-attr]
    variant_checks.request(variants=[candidate, other], checkers=[checker], by=ada)
    worker = Worker.objects.create(host="here", pid=1).pk
    assert len(VariantCheckWork().claim(room=10, worker=worker)) == 1
    assert VariantCheckWork().claim(room=10, worker=worker) == []


def test_who_checks_must_have_a_family_a_key_and_be_in_use(
    ada: User, candidate: Item, checker: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    gpt = Drafter.objects.create(name="GPT", provider="openai", model_id="gpt")
    with pytest.raises(Invalid, match="Choose the models"):
        ask(candidate, ada)
    with pytest.raises(Invalid, match="which family GPT is of"):
        ask(candidate, ada, gpt)
    variant_checks.set_family(checker=gpt, family=" GPT ")
    assert gpt.family == "GPT"
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY"):
        ask(candidate, ada, gpt)
    checker.active = False
    with pytest.raises(Conflict, match="not in use"):
        ask(candidate, ada, checker)
    assert not VariantCheck.objects.exists()


def test_the_cost_so_far_is_that_of_every_call(ada: User, candidate: Item, checker: Drafter) -> None:
    checker.price_input, checker.price_cached_input, checker.price_output = Decimal(10), Decimal(1), Decimal(100)
    ask(candidate, ada, checker)
    Drafter.objects.update(provider="openai_compatible", price_input=999)  # later prices are for later checks
    again = answer(claimed(), "I think so.")
    assert again is not None
    answer(again, said())
    [row] = variant_checks.spent()
    # Two calls of 80 fresh, 20 cached and 10 output tokens: 2 x (80 x 10 + 20 x 1 + 10 x 100) / 1,000,000.
    assert (row.done, row.total, f"{row.used.cost:.5f}") == (1, 1, "0.00364")
    assert row.used.words == "$0.0036"
    VariantCheck.objects.update(price_output=None)
    assert (variant_checks.spent()[0].used.words, variant_checks.spent()[0].used.note) == ("unknown", "price unknown")
    VariantCheck.objects.update(price_output=100, input_tokens=None, output_tokens=None)
    assert variant_checks.spent()[0].used.words == "unknown"  # nothing was counted, which is not free of charge


# The scripted checker -------------------------------------------------------------------------------------------


@pytest.fixture
def sure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The scripted checker without its doubts."""
    monkeypatch.setattr(scripted, "chance", lambda *_: 1.0)

    def check(**changes: str) -> dict[str, Any]:
        body = {
            "premise_class": "identity",
            "target_description": "the striped cat on the chair",
            "modified_target_description": "the striped dog on the chair",
            "content": "Where is the striped cat on the chair?",
            "modified": "Where is the striped dog on the chair?",
        }
        return scripted.check({**body, **changes}, model_id="m")

    return check


def wrong(verdict: dict[str, Any]) -> list[str]:
    return [name for name in QUESTIONS if not verdict[name]]


def test_the_scripted_checker_tells_good_wordings_from_bad_ones(sure: Callable[..., dict[str, Any]]) -> None:
    assert wrong(sure()) == []
    assert wrong(sure(premise_class="location")) == ["of_class"]
    assert wrong(sure(modified="Where is the striped dog on the chair today?")) == ["single_error"]
    assert wrong(sure(modified="Where is that dog?")) == ["natural", "single_error"]
    assert "premise_false" in wrong(sure(modified_target_description="the striped cat on the chair"))


def test_a_scripted_checker_says_the_same_of_the_same_and_doubts_now_and_then() -> None:
    bodies = [
        {
            "premise_class": "attribute",
            "target_description": f"the red car number {n}",
            "modified_target_description": f"the blue car number {n}",
            "content": f"Where is the red car number {n}?",
            "modified": f"Where is the blue car number {n}?",
        }
        for n in range(100)
    ]
    verdicts = [scripted.check(body, model_id="a") for body in bodies]
    assert verdicts == [scripted.check(body, model_id="a") for body in bodies]
    assert 0 < sum(bool(wrong(verdict)) for verdict in verdicts) < 50
    assert verdicts != [scripted.check(body, model_id="b") for body in bodies]
    assert simulated.chance("a") == simulated.chance("a")
