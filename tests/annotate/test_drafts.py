"""Drafts: asked for, made by the engine, read strictly, put in by a person."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from annotate.models import Draft, Drafter, Item, Revision, User
from annotate.services import drafters, drafts, items
from annotate.services.draft_calls import Ask
from annotate.services.drafting_work import DraftWork
from fpco_site.errors import Conflict, Invalid, NotConfigured
from fpco_site.llm import prompts
from fpco_site.llm.engine import Call, Claim, pump
from fpco_site.llm.models import Worker
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]


@pytest.fixture
def item(ada: User) -> Item:
    return items.place(image=factories.image(target="cat"), cell=("single_clean", "animal", "identity"), by=ada)


def make_drafts() -> None:
    """Let the real engine work until nothing is left."""
    pump.run(stop=pump.Stop())


def answer(draft: Draft, *texts: str | None, error: ProviderError | None = None) -> None:
    """Claim the draft and record calls with these texts, then the error, until it is over, as the engine does."""
    work = DraftWork()
    claims = work.claim(room=1, worker=Worker.objects.create(host="here", pid=1).pk)
    claim: Claim[Ask] | None = work.open(claims[0])
    replies = [Reply(Outcome.ANSWERED, text, model="m-1", raw=(text or "").encode()) for text in texts]
    for end in [*replies, *([error] if error else [])]:
        assert claim is not None
        given = {"reply": end} if isinstance(end, Reply) else {"error": end}
        [claim] = work.record([Call(claim, work.request(claim), timezone.now(), 0.5, **given)])
    assert claim is None
    draft.refresh_from_db()


def questions(**changes: Any) -> str:
    rows = [{"id": n, "content": text} for n, text in enumerate(factories.questions("the cat on the chair"), 1)]
    return json.dumps({"target_description": "the cat on the chair", "questions": rows, **changes})


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_the_scripted_drafter_drafts_questions_and_premise_through_the_engine(ada: User, settings: Any) -> None:
    settings.ENGINE = {"idle": 0.0, "tick": 0.01, "gap": 0.001}
    item = items.place(image=factories.image(target="cat"), cell=("single_clean", "animal", "identity"), by=ada)
    drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    make_drafts()
    first = Draft.objects.get()
    assert (first.state, first.simulated, first.error) == ("ready", True, "")
    item = drafts.apply(draft=first, version=1, by=ada)
    drafts.request(item=item, kind="premise", drafter=drafters.default(), by=ada)
    make_drafts()
    item = drafts.apply(draft=Draft.objects.get(kind="premise"), version=2, by=ada)
    assert items.missing_texts(item) == ""
    assert items.texts_of(item).questions[3].modified == ""
    assert Revision.objects.get(item=item, version=3).reason.endswith("Scripted drafter (simulated) put in")


def test_a_draft_keeps_all_that_made_it(ada: User, item: Item) -> None:
    draft = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    answer(draft, questions())
    prompt = prompts.load("draft_questions")
    assert (draft.prompt_name, draft.prompt_version) == ("draft_questions", str(prompt.version))
    assert draft.prompt_sha256 == prompt.sha256
    sent = json.loads(draft.request or b"")
    assert sent["system"] == prompt.text
    assert sent["picture_sha256"] == item.image.sha256
    assert json.loads(sent["messages"][0]["text"])["metadata"]["category"] == 3
    assert (draft.reply, draft.model_answered, draft.seconds) == (questions().encode(), "m-1", 0.5)
    assert (draft.payload or {})["questions"]["10"] == "Why might someone have photographed the cat on the chair?"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Here you are: {}", "The reply is not JSON."),
        (questions(extra=1), "The reply has a key that was not asked for: 'extra'."),
        (questions(questions=[]), "The id 1 is missing in 'questions'."),
        (questions(target_description="the\x00cat"), "The reply holds control characters"),
        (None, "The model gave no text"),
    ],
)
def test_a_draft_that_cannot_be_read_has_failed_and_shows_its_reply(
    ada: User, item: Item, text: str | None, why: str
) -> None:
    draft = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    answer(draft, text, text)
    assert (draft.state, draft.payload) == ("failed", None)
    assert draft.error.startswith(why)
    assert drafts.panel(item)["drafts"][0].reply == (text or "")
    with pytest.raises(Conflict, match="failed"):
        drafts.apply(draft=draft, version=1, by=ada)


def test_a_draft_with_nothing_to_change_fails_alone_and_frees_the_item_for_another(ada: User, item: Item) -> None:
    draft = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    with pytest.raises(Conflict, match="already being made"):
        drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    answer(draft, error=ProviderError(ErrorKind.PERMANENT, "It names no colour.", code="nothing_to_change"))
    assert (draft.state, draft.error, draft.lease_token) == ("failed", "It names no colour.", None)
    assert draft.job.state == "complete"
    drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)


def test_an_answer_under_an_old_token_is_left_out(ada: User, item: Item) -> None:
    draft = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    work = DraftWork()
    [claim] = work.claim(room=1, worker=Worker.objects.create(host="here", pid=1).pk)
    Draft.objects.update(lease_token=uuid4())
    late = Reply(Outcome.ANSWERED, questions())
    assert work.record([Call(claim, None, timezone.now(), 0.1, reply=late)]) == [None]
    draft.refresh_from_db()
    assert (draft.state, draft.payload) == ("running", None)


def test_a_drafter_makes_no_more_at_once_than_it_may(ada: User) -> None:
    drafter = drafters.default()
    Drafter.objects.update(concurrency=2)
    for _ in range(3):
        drafts.request(item=factories.item(state="draft"), kind="questions", drafter=drafter, by=ada)
    worker = Worker.objects.create(host="here", pid=1).pk
    assert len(DraftWork().claim(room=10, worker=worker)) == 2
    assert DraftWork().claim(room=10, worker=worker) == []


def test_applying_a_draft_never_overwrites_an_edit_that_was_not_seen(ada: User, ben: User, item: Item) -> None:
    draft = drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    answer(draft, questions())
    items.edit(item=item, version=1, texts=items.Texts(target="cat", target_description="Ben's cat"), by=ben)
    with pytest.raises(Conflict, match="ben changed this item meanwhile"):
        drafts.apply(draft=draft, version=1, by=ada)
    assert Item.objects.get().target_description == "Ben's cat"


def test_a_request_that_makes_no_sense_is_refused(ada: User, item: Item, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Invalid, match="the description is missing"):
        drafts.request(item=item, kind="premise", drafter=drafters.default(), by=ada)
    with pytest.raises(Invalid, match="not of 'poem'"):
        drafts.request(item=item, kind="poem", drafter=drafters.default(), by=ada)
    gpt = Drafter.objects.create(name="GPT", provider="openai", model_id="gpt")
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY"):
        drafts.request(item=item, kind="questions", drafter=gpt, by=ada)
    Item.objects.update(target="")
    with pytest.raises(Invalid, match="Name the target first"):
        drafts.request(item=item, kind="questions", drafter=drafters.default(), by=ada)
    assert not Draft.objects.exists()
