"""Jobs of drafting: what waits, redrafts, both kinds in one go, stops that say why, and going on."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from annotate import draft_progress, proposals
from annotate.models import Draft, DraftCall, Drafter, DraftJob, Item, User
from annotate.services import draft_jobs, drafters, drafts, items, reviews
from annotate.services.draft_calls import Ask
from annotate.services.draft_jobs import Wish
from annotate.services.drafting_work import DraftWork
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm.engine import Call, Claim, Fault
from fpco_site.llm.models import Worker
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request, Usage
from tests import factories
from tests.engine import FakeProvider, run_engine
from tests.stubs import StubServer

pytestmark = [pytest.mark.db, pytest.mark.django_db]
CELL = ("single_clean", "animal", "identity")
DESCRIPTION, MODIFIED = "the striped cat on the chair", "the striped dog on the chair"
KEY_REFUSED = ProviderError(ErrorKind.PERMANENT, "Incorrect API key provided.", status=401)


def place(by: User, cell: tuple[str, str, str] = CELL) -> Item:
    return items.place(image=factories.image(target="cat"), cell=cell, by=by)


def questions(description: str = DESCRIPTION, **changed: str) -> str:
    rows = [{"id": n, "content": text} for n, text in enumerate(factories.questions(description), 1)]
    for row in rows:
        row["content"] = changed.get(f"q{row['id']}", row["content"])
    return json.dumps({"target_description": description, "questions": rows})


def premise(modified: str = MODIFIED) -> str:
    rows = [{"id": n, "modified": text} for n, text in enumerate(factories.questions(modified), 1) if n > 3]
    return json.dumps({"modified_target_description": modified, "questions": rows})


def answer(text: str | None, **more: Any) -> Reply:
    return Reply(Outcome.ANSWERED, text, raw=json.dumps({"said": text}).encode(), **more)


class Desk:
    """Claims drafts and records calls, as an engine does."""

    def __init__(self) -> None:
        self.work = DraftWork()
        self.worker = Worker.objects.create(host="here", pid=1).pk

    def claim(self, room: int = 10) -> list[Claim[Ask]]:
        return [self.work.open(claim) for claim in self.work.claim(room=room, worker=self.worker)]

    def record(
        self, claim: Claim[Ask], end: Reply | ProviderError, *, last: bool = True, fault: Fault = Fault.EVERYBODYS
    ) -> tuple[Claim[Ask] | None, Request]:
        """The claim to go on with, and what was sent."""
        request = self.work.request(claim)
        given: dict[str, Any] = (
            {"reply": end} if isinstance(end, Reply) else {"error": end, "last": last, "fault": fault}
        )
        [following] = self.work.record([Call(claim, request, timezone.now(), 0.25, **given)])
        return following, request


@pytest.fixture
def desk(db: None) -> Desk:
    return Desk()


def start(by: User, kind: str = "questions", **more: Any) -> DraftJob:
    return draft_jobs.start(wish=Wish(kind, **more), drafter=drafters.default(), by=by)


def states(job: DraftJob) -> list[str]:
    return list(job.drafts.order_by("pk").values_list("state", flat=True))


# What waits ------------------------------------------------------------------------------------------------------


def test_all_that_wait_are_drafts_with_a_target_and_without_words(ada: User) -> None:
    blank, _ = place(ada), factories.item(state="draft")
    place(ada)
    Item.objects.filter(pk__gt=blank.pk, target_description="").update(target="")
    for state in ("in_review", "rejected"):
        Item.objects.filter(pk=place(ada).pk).update(state=state)
    job = start(ada)
    assert list(job.drafts.values_list("item", flat=True)) == [blank.pk]
    assert (job.started_by, job.questions_version, job.premise_version) == (ada, "1", "")


def test_a_premise_waits_where_the_questions_are_written_and_it_is_not(ada: User) -> None:
    place(ada)
    factories.item(state="draft")
    ripe = factories.item(state="draft", modified_target_description="")
    assert list(start(ada, "premise").drafts.values_list("item", flat=True)) == [ripe.pk]


def test_a_cell_is_drafted_alone(ada: User) -> None:
    other = place(ada, ("single_clean", "food", "location"))
    place(ada)
    job = start(ada, scope="cell", cell=other.cell)
    assert [draft.item for draft in job.drafts.all()] == [other]


def test_nothing_is_drafted_twice(ada: User) -> None:
    place(ada)
    first = start(ada)
    with pytest.raises(Invalid, match="Nothing waits"):
        start(ada)
    first.drafts.update(state="ready")
    with pytest.raises(Invalid, match="its proposal waits for your decision"):
        start(ada)
    first.drafts.update(discarded_at=timezone.now())
    assert start(ada).drafts.count() == 1


def test_what_failed_waits_again(ada: User) -> None:
    place(ada)
    start(ada).drafts.update(state="failed")
    assert start(ada).drafts.count() == 1


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"kind": "poem"}, "not of 'poem'"),
        ({"kind": "both", "alternatives": 4}, "One, two or three"),
        ({"kind": "both", "scope": "item"}, "which item"),
        ({"kind": "both", "scope": "cell"}, "which cell"),
        ({"kind": "both", "scope": "cell", "cell": ("a", "b", "c")}, "complexity must be one of"),
        ({"kind": "both", "scope": "world"}, "not for 'world'"),
        ({"kind": "questions", "versions": {"questions": 77}}, "has no version 77"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(ada: User, wish: dict[str, Any], why: str) -> None:
    place(ada)
    with pytest.raises(Invalid, match=why):
        start(ada, **wish)
    assert not DraftJob.objects.exists()


# One draft -------------------------------------------------------------------------------------------------------


def test_a_draft_that_breaks_a_rule_is_asked_for_once_more_with_the_rule_named(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada)
    [claim] = desk.claim()
    broken = questions(q5="How is it lit?")
    following, first = desk.record(claim, answer(broken))
    assert "redraft" not in first.messages[0].text
    assert following is not None
    ended, second = desk.record(following, answer(questions()))
    assert ended is None
    redraft = json.loads(second.messages[0].text)["redraft"]
    assert redraft["former_reply"] == broken
    assert len(redraft["mend"]) == 1
    assert redraft["mend"][0].startswith("Question 5: ")
    draft, calls = job.drafts.get(), list(DraftCall.objects.order_by("number"))
    assert (draft.state, draft.error) == ("ready", "")
    assert [(call.number, call.verdict) for call in calls] == [(1, "breaks_rules"), (2, "usable")]
    assert calls[0].findings[0]["turn"] == 5
    assert json.loads(calls[0].reply or b"") == {"said": broken}


def test_a_second_broken_draft_has_failed_and_shows_what_is_wrong_and_what_came(ada: User, desk: Desk) -> None:
    item = place(ada)
    job = start(ada)
    [claim] = desk.claim()
    following, _ = desk.record(claim, answer("Sure! Here it is."))
    assert following is not None
    assert following.state.redraft is not None
    assert following.state.redraft.problems == ("The reply is not JSON.",)
    ended, _ = desk.record(following, answer(questions(q2="And behind it?")))
    assert ended is None
    draft = job.drafts.get()
    assert draft.state == "failed"
    assert draft.error.startswith("It breaks a rule. Question 2: ")
    assert "And behind it?" in drafts.panel(item)["drafts"][0].reply
    assert [call.verdict for call in draft.calls.all()] == ["unreadable", "breaks_rules"]
    assert DraftJob.objects.get().state == "complete"


def test_a_redraft_is_taken_up_by_another_worker_where_it_was(ada: User, desk: Desk) -> None:
    place(ada)
    start(ada)
    [claim] = desk.claim()
    desk.record(claim, answer(None, reason="SAFETY"))
    desk.work.free(desk.worker)
    other = Desk()
    [again] = other.claim()
    assert (again.state.bad, again.state.redraft) != (0, None)
    ended, sent = other.record(again, answer("not JSON"))
    assert ended is None
    assert "SAFETY" in sent.messages[0].text
    assert Draft.objects.get().state == "failed"


def test_a_warning_is_no_reason_to_ask_again(ada: User, desk: Desk) -> None:
    place(ada)
    start(ada)
    [claim] = desk.claim()
    ended, _ = desk.record(claim, answer(questions(q1=f"Tell me about {DESCRIPTION}.")))
    assert ended is None
    assert Draft.objects.get().state == "ready"
    assert DraftCall.objects.get().findings[0]["severity"] == "warning"


def test_a_premise_is_not_blamed_for_the_questions_it_was_given(ada: User, desk: Desk) -> None:
    item = factories.item(state="draft", modified_target_description="")
    item.turns.filter(number=2).update(content="And behind it?")
    start(ada, "premise")
    [claim] = desk.claim()
    desk.record(claim, answer(premise()))
    assert Draft.objects.get().state == "ready"


def test_a_premise_of_the_wrong_class_is_sent_back(ada: User, desk: Desk) -> None:
    factories.item(state="draft", modified_target_description="", premise_class="location")
    start(ada, "premise")
    [claim] = desk.claim()
    following, _ = desk.record(claim, answer(premise()))
    assert following is not None
    assert DraftCall.objects.get().verdict == "breaks_rules"


# Both kinds, and alternatives ------------------------------------------------------------------------------------


def test_both_drafts_the_premise_on_the_drafts_own_questions(ada: User, desk: Desk) -> None:
    item = place(ada)
    job = start(ada, "both")
    assert draft_progress.standing([job])[job.pk].planned == 2
    [claim] = desk.claim()
    desk.record(claim, answer(questions("the tabby cat on the stool")))
    [claim] = desk.claim()
    assert claim.state.target_description == "the tabby cat on the stool"
    assert claim.state.false[4] == "What is the closest thing to the tabby cat on the stool?"
    desk.record(claim, answer(premise("the tabby dog on the stool")))
    first, second = job.drafts.order_by("pk")
    assert (second.kind, second.based_on, second.state) == ("premise", first, "ready")
    item.refresh_from_db()
    assert (item.target_description, item.version) == ("", 1)
    assert DraftJob.objects.get().state == "complete"
    shown = drafts.panel(item)["drafts"][0]
    assert [segment.text for segment in shown.rows[0][1] if segment.changed] == ["dog"]  # against its own questions
    saved = drafts.apply(draft=second, version=1, by=ada)
    saved = items.submit(item=saved, version=2, by=ada)
    assert (saved.state, items.missing_texts(saved)) == ("in_review", "")
    assert saved.modified_target_description == "the tabby dog on the stool"
    assert item.revisions.count() == 3  # placed, put in, submitted


def test_questions_that_failed_get_no_premise(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada, "both")
    [claim] = desk.claim()
    following, _ = desk.record(claim, answer("no"))
    assert following is not None
    desk.record(following, answer("no"))
    assert states(job) == ["failed"]
    assert DraftJob.objects.get().state == "complete"


def test_three_alternatives_are_made_side_by_side_and_the_others_are_set_aside(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada, alternatives=3)
    for claim, description in zip(desk.claim(), ("the cat here", "the striped cat", "the small cat"), strict=True):
        desk.record(claim, answer(questions(description)))
    first, second, third = job.drafts.order_by("alternative")
    saved = drafts.put_in(drafts=[second], version=1, by=ada)
    assert saved.target_description == "the striped cat"
    for other in (first, third):
        other.refresh_from_db()
        assert (other.applied_by, other.discarded_by) == (None, ada)
    with pytest.raises(Conflict, match="decided on this draft"):
        drafts.discard(drafts=[first], by=ada)


def test_a_discarded_draft_takes_the_premise_that_is_made_of_it_along(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada, "both")
    [claim] = desk.claim()
    desk.record(claim, answer(questions()))
    drafts.discard(drafts=[job.drafts.get(kind="questions")], by=ada)
    assert states(job) == ["ready", "dropped"]
    assert DraftJob.objects.get().state == "complete"
    assert desk.claim() == []


def both_twice(by: User, desk: Desk) -> tuple[Item, dict[tuple[str, int], Draft]]:
    """Two whole alternatives, each with a premise of its own questions."""
    item = place(by)
    job = start(by, "both", alternatives=2)
    for claim, animal in zip(desk.claim(), ("tabby cat", "striped cat"), strict=True):
        desk.record(claim, answer(questions(f"the {animal} on the chair")))
    for claim in desk.claim():
        desk.record(claim, answer(premise(claim.state.target_description.replace("cat", "dog"))))
    return item, {(draft.kind, draft.alternative): draft for draft in job.drafts.all()}


def test_questions_put_in_set_the_others_aside_with_the_premises_made_of_them(ada: User, desk: Desk) -> None:
    item, made = both_twice(ada, desk)
    drafts.put_in(drafts=[made["questions", 1]], version=1, by=ada)
    assert [proposal.drafts for proposal in proposals.of(item)] == [(made["premise", 1],)]
    made["premise", 2].refresh_from_db()
    assert made["premise", 2].discarded_by == ada


def test_a_premise_comes_with_its_questions_unless_they_were_put_in_last(ada: User, desk: Desk) -> None:
    _, made = both_twice(ada, desk)
    item = drafts.put_in(drafts=[made["questions", 1], made["premise", 1]], version=1, by=ada)
    item = drafts.apply(draft=made["premise", 2], version=item.version, by=ada)  # set aside, and wanted after all
    assert item.target_description == "the striped cat on the chair"
    assert items.texts_of(item).questions[4].modified.endswith("the striped dog on the chair?")
    item.turns.filter(number=1).update(content="What does the striped cat on the chair do?")
    item = drafts.apply(draft=made["premise", 2], version=item.version, by=ada)
    assert items.texts_of(item).questions[1].content == "What does the striped cat on the chair do?"


def test_nothing_more_is_asked_for_an_item_that_was_rejected(ada: User, desk: Desk) -> None:
    item, waiting = place(ada), place(ada)
    job = start(ada, "both")
    [claim] = desk.claim(1)
    for row in (item, waiting):
        reviews.decide(item=row, version=1, verdict="rejected", by=ada, comment="Blurred.")
    desk.record(claim, answer(questions()))
    assert desk.claim() == []
    assert states(job) == ["ready", "dropped"]
    assert DraftJob.objects.get().state == "complete"


def test_questions_that_are_too_long_for_the_form_are_sent_back(ada: User, desk: Desk) -> None:
    place(ada)
    start(ada)
    [claim] = desk.claim()
    following, _ = desk.record(claim, answer(questions(q5=f"Where is {DESCRIPTION}{' or so' * 200_000}?")))
    assert following is not None
    assert following.state.redraft is not None
    assert following.state.redraft.problems == ("Question 5 has 1,200,038 characters; 2,000 are the most.",)


def test_an_error_of_the_rules_keeps_a_draft_from_review_and_nothing_is_saved(ada: User) -> None:
    item = factories.item(state="draft")
    payload = {"modified_target_description": "the striped cat on the chair", "questions": {}}
    draft = factories.draft(item, kind="premise", payload=payload)
    with pytest.raises(Invalid, match="An error of the rules"):
        drafts.put_in(drafts=[draft], version=1, by=ada, submit=True)
    item.refresh_from_db()
    assert (item.version, item.modified_target_description) == (1, MODIFIED)


def test_drafts_of_two_items_are_no_proposal(ada: User) -> None:
    payload = {"target_description": "the cat", "questions": {}}
    two = [factories.draft(factories.item(), payload=payload) for _ in range(2)]
    with pytest.raises(Invalid, match="one item's"):
        drafts.put_in(drafts=two, version=1, by=ada)


# Stopping and going on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (KEY_REFUSED, "Check the key in OPENAI_API_KEY, restart the worker, then continue."),
        (ProviderError(ErrorKind.PERMANENT, "No such model.", status=404), "Check that gpt-9 exists"),
        (ProviderError(ErrorKind.PERMANENT, "You ran out.", status=429, code="insufficient_quota"), "Add credit"),
        (
            ProviderError(ErrorKind.TRANSIENT, "Connection refused."),
            "check the connection, the address and the provider",
        ),
    ],
)
def test_a_provider_that_is_out_stops_the_job_at_once_with_advice(
    ada: User, desk: Desk, monkeypatch: pytest.MonkeyPatch, error: ProviderError, advice: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    drafter = Drafter.objects.create(name="GPT", provider="openai", model_id="gpt-9", concurrency=2)
    for _ in range(4):
        place(ada)
    job = draft_jobs.start(wish=Wish("questions"), drafter=drafter, by=ada)
    for _ in range(2):  # it is mended, and is out again: nothing is lost to it
        for claim in desk.claim():
            assert desk.record(claim, error)[0] is None
        job.refresh_from_db()
        assert job.state == "stopped"
        assert job.stop_reason.endswith(advice) or advice in job.stop_reason
        assert "sk-secret" not in job.stop_reason
        assert states(job) == ["waiting"] * 4
        assert desk.claim() == []
        draft_jobs.go_on(job=job, by=ada)
    assert DraftCall.objects.count() == 4
    assert len(desk.claim()) == 2


def test_what_is_refused_twice_has_failed_and_the_job_goes_on(ada: User, desk: Desk) -> None:
    place(ada)
    place(ada)
    job = start(ada)
    refused = ProviderError(ErrorKind.PERMANENT, "This picture is too large.", status=413)
    first, second = desk.claim()
    desk.record(first, refused)
    assert desk.record(second, answer(questions()))[0] is None
    draft_jobs.go_on(job=job, by=ada)
    [again] = desk.claim()
    desk.record(again, refused)
    assert states(job) == ["failed", "ready"]
    assert DraftJob.objects.get().state == "complete"


def test_a_stopped_job_keeps_what_was_in_flight_and_goes_on_with_the_rest(ada: User, desk: Desk) -> None:
    for _ in range(3):
        place(ada)
    job = start(ada)
    [claim] = desk.claim(room=1)
    draft_jobs.stop(job=job, by=ada)
    assert DraftWork().open_groups([job.pk]) == set()
    assert not DraftWork().claim(room=5, worker=desk.worker)
    desk.record(claim, answer(questions()))
    assert states(job) == ["ready", "waiting", "waiting"]
    job.refresh_from_db()
    assert (job.state, job.stop_reason) == ("stopped", "Stopped by ada.")
    with pytest.raises(Conflict, match="running can be stopped"):
        draft_jobs.stop(job=job, by=ada)
    draft_jobs.go_on(job=job, by=ada)
    assert len(desk.claim()) == 2


def test_a_bad_reply_that_meets_a_stop_is_not_asked_again_now(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada)
    [claim] = desk.claim()
    draft_jobs.stop(job=job, by=ada)
    assert desk.record(claim, answer("no"))[0] is None
    draft_jobs.go_on(job=job, by=ada)
    [again] = desk.claim()
    assert again.state.bad == 1


def test_another_wish_takes_over_what_a_stopped_job_has_waiting(ada: User, ben: User) -> None:
    item = place(ada)
    stopped = start(ada)
    draft_jobs.stop(job=stopped, by=ada)
    mine = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ben)
    assert states(stopped) == ["dropped"]
    draft_jobs.go_on(job=stopped, by=ada)
    stopped.refresh_from_db()
    assert (stopped.state, mine.state) == ("complete", "waiting")


def test_a_small_job_does_not_wait_for_a_big_one(ada: User, desk: Desk) -> None:
    for _ in range(5):
        place(ada)
    start(ada)
    Drafter.objects.update(concurrency=2)
    drafts.request(item=factories.item(state="draft"), kind="questions", drafter=drafters.default(), by=ada)
    assert len({claim.group for claim in desk.claim()}) == 2


def test_a_prompt_that_is_not_what_it_was_stops_the_job(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada)
    job.drafts.update(prompt_sha256="0" * 64)
    assert desk.claim() == []
    job.refresh_from_db()
    assert job.state == "stopped"
    assert job.stop_reason.startswith("The prompt draft_questions.v1 is no longer the one")
    assert states(job) == ["waiting"]


# Cost ------------------------------------------------------------------------------------------------------------


def test_cost_is_tokens_by_price_cached_ones_by_theirs_and_unknown_is_never_zero(ada: User, desk: Desk) -> None:
    place(ada)
    job = start(ada)
    [claim] = desk.claim()
    usage = Usage(input=1_000_000, cached=400_000, output=100_000, reasoning=50_000)
    desk.record(claim, answer(questions(), usage=usage))
    Drafter.objects.update(provider="openai")
    job.drafts.update(simulated=False)

    def cost() -> tuple[str, str]:
        spent = draft_progress.spent([DraftJob.objects.select_related("drafter").get()])[job.pk]
        return ("" if spent.cost is None else f"{spent.cost:.2f}"), spent.note

    assert cost() == ("", "price unknown")
    DraftJob.objects.update(price_input=2, price_output=10)
    assert cost() == ("3.00", "cached input at the full price, its own is unknown")
    DraftJob.objects.update(price_cached_input="0.5")
    assert cost() == ("2.40", "")  # 0.6 M x $2 + 0.4 M x $0.5 + 0.1 M x $10
    DraftCall.objects.create(
        draft=job.drafts.get(), number=2, verdict="unreadable", text="?", started_at=timezone.now(), seconds=1
    )
    assert cost() == ("2.40", "1 reply came without a token count")


def test_a_job_keeps_the_prices_that_it_was_made_with(ada: User, desk: Desk) -> None:
    place(ada)
    drafters.default()
    Drafter.objects.update(price_input=2, price_output=10)
    job = start(ada)
    Drafter.objects.update(price_input=200, price_output=1000)
    kept = DraftJob.objects.get(pk=job.pk)
    assert (kept.price_input, kept.price_cached_input, kept.price_output) == (2, None, 10)


# Through the engine, against a provider that misbehaves ----------------------------------------------------------


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


def ask_the_stub(stub: StubServer, by: User, monkeypatch: pytest.MonkeyPatch, **more: Any) -> DraftJob:
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    drafter = Drafter.objects.create(
        name="Stub",
        provider="openai_compatible",
        model_id="stub",
        base_url=stub.url("openai_compatible"),
        api_key_env="STUB_KEY",
        concurrency=2,
    )
    return draft_jobs.start(wish=Wish("both", **more), drafter=drafter, by=by)


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("fast_engine")
def test_drafts_come_through_prose_wrong_ids_filters_and_limits(
    ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        place(ada)
    limited = {"what": "rate_limit", "retry_after": "0"}
    stub.script(["prose", limited, "cut_midway", 500, "answer", "wrong_ids", "answer", "thinking", "answer"])
    job = ask_the_stub(stub, ada, monkeypatch)
    Drafter.objects.update(concurrency=1)
    run_engine()
    assert states(job) == ["ready"] * 8
    assert DraftJob.objects.get().state == "complete"
    assert DraftCall.objects.count() == stub.counts.requests == 8 + 6
    assert Item.objects.exclude(target_description="").count() == 0


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("fast_engine")
@pytest.mark.parametrize("how", ["unauthorized", "quota", "404"])
def test_a_provider_that_refuses_is_asked_once_a_lane(
    ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    for _ in range(6):
        place(ada)
    stub.always(how)
    job = ask_the_stub(stub, ada, monkeypatch)
    run_engine()
    job.refresh_from_db()
    assert (job.state, set(states(job))) == ("stopped", {"waiting"})
    assert 1 <= stub.counts.requests <= 2
    assert "key-of-the-stub" not in job.stop_reason
    stub.always(None)
    draft_jobs.go_on(job=job, by=ada)
    run_engine()
    assert states(job) == ["ready"] * 12


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("fast_engine")
def test_a_provider_that_is_down_for_good_stops_the_job(ada: User) -> None:
    async def down(request: Request) -> Reply:
        raise ProviderError(ErrorKind.TRANSIENT, "Connection refused.")

    for _ in range(3):
        place(ada)
    Drafter.objects.filter(pk=drafters.default().pk).update(concurrency=1)
    job = start(ada)
    run_engine(FakeProvider(down))
    job.refresh_from_db()
    assert (job.state, states(job)) == ("stopped", ["waiting"] * 3)
    advice = "check the connection, the address and the provider, then continue."
    assert job.stop_reason == f"Connection refused. No call is answered: {advice}"
