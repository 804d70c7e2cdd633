"""Pages of drafting, proposals, drafters and prompts: what they do, and what the wrong person gets."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotate.models import Draft, DraftCall, Drafter, DraftJob, Item, User
from annotate.services import draft_jobs, drafters, drafts, items, prompts
from annotate.services.draft_jobs import Wish
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import prompts as stored
from fpco_site.llm.models import PromptVersion
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
MODIFIED = "the striped dog on the chair"


def place(by: User) -> Item:
    return items.place(image=factories.image(target="cat"), cell=("single_clean", "animal", "identity"), by=by)


def questions(item: Item, description: str = "the striped cat on the chair", **more: Any) -> Draft:
    texts = {str(n): text for n, text in enumerate(factories.questions(description), 1)}
    return factories.draft(item, payload={"target_description": description, "questions": texts}, **more)


def premise(item: Item, modified: str = MODIFIED, **more: Any) -> Draft:
    texts = {str(n): text for n, text in enumerate(factories.questions(modified), 1) if n > 3}
    payload = {"modified_target_description": modified, "questions": texts}
    return factories.draft(item, kind="premise", prompt_name="draft_premise", payload=payload, **more)


@pytest.fixture
def call(ada: User) -> DraftCall:
    from django.utils import timezone

    draft = questions(place(ada))
    values = {"verdict": "usable", "started_at": timezone.now(), "seconds": 1.0, "text": "<b>{}</b>"}
    return DraftCall.objects.create(
        draft=draft, number=1, request=b'{"system": "Draft."}', reply=b"<b>{}</b>", **values
    )


def addresses(call: DraftCall) -> list[tuple[str, str]]:
    """Every page of these rooms, with the way it is asked."""
    draft = call.draft
    args: list[tuple[str, str, list[Any]]] = [
        ("get", "drafting_list", []),
        ("post", "drafting_list", []),
        ("get", "drafting_estimate", []),
        ("get", "drafting_live", []),
        ("get", "drafting_job", [draft.job_id]),
        ("get", "drafting_job_live", [draft.job_id]),
        ("post", "drafting_stop", [draft.job_id]),
        ("post", "drafting_continue", [draft.job_id]),
        ("get", "draft_detail", [draft.pk]),
        ("get", "draft_call_raw", [call.pk, "reply"]),
        ("get", "proposals", []),
        ("get", "proposal", [draft.item.key]),
        ("post", "proposal_decide", [draft.item.key]),
        ("get", "drafter_list", []),
        ("get", "drafter_new", []),
        ("post", "drafter_new", []),
        ("get", "drafter_edit", [draft.drafter_id]),
        ("post", "drafter_active", [draft.drafter_id]),
        ("get", "prompt_list", []),
        ("get", "prompt_detail", ["detector"]),
        ("get", "prompt_version", ["detector", 1]),
        ("get", "prompt_new", ["detector"]),
        ("post", "prompt_new", ["detector"]),
    ]
    return [(way, reverse(name, args=rest)) for way, name, rest in args]


def test_nobody_but_an_author_finds_these_pages(
    as_: As, lea: User, rita: User, client: Client, call: DraftCall
) -> None:
    for who in (lea, rita):
        for way, address in addresses(call):
            assert getattr(as_(who), way)(address).status_code == 404, (who, address)
    for way, address in addresses(call):
        assert getattr(client, way)(address).status_code == 302, address
    assert not PromptVersion.objects.exists()


def test_an_author_opens_every_page(as_: As, ada: User, call: DraftCall) -> None:
    for way, address in addresses(call):
        if way == "get":
            assert as_(ada).get(address, follow=True).status_code == 200, address


def test_a_wrong_way_or_an_unknown_thing_is_refused(as_: As, ada: User, call: DraftCall) -> None:
    client = as_(ada)
    assert client.get(reverse("drafting_stop", args=[call.draft.job_id])).status_code == 405
    for name, args in (
        ("drafting_job", [10**9]),
        ("draft_call_raw", [call.pk, "secrets"]),
        ("prompt_detail", ["poem"]),
        ("prompt_version", ["detector", 77]),
        ("proposal", ["nothing"]),
    ):
        assert client.get(reverse(name, args=args)).status_code == 404, name


# Jobs ------------------------------------------------------------------------------------------------------------


def test_the_form_says_what_it_takes_and_starts_a_job(as_: As, ada: User) -> None:
    place(ada)
    place(ada)
    client = as_(ada)
    page = client.get(reverse("drafting_list")).content.decode()
    assert "Calls, about" in page
    given = {"drafter": drafters.default().pk, "kind": "both", "scope": "waiting", "alternatives": 2}
    estimate = client.get(reverse("drafting_estimate"), given).content.decode()
    assert "<strong>8</strong>" in estimate
    reply = client.post(reverse("drafting_list"), given)
    job = DraftJob.objects.get()
    assert reply.status_code == 302
    assert reply.url == reverse("drafting_job", args=[job.pk])
    assert (job.started_by, job.alternatives, job.drafts.count()) == (ada, 2, 4)
    assert 'hx-trigger="every 2s"' in client.get(reply.url).content.decode()
    assert "Nothing waits for such a draft" in client.post(reverse("drafting_list"), given).content.decode()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"scope": "cell"}, "Say which cell."),
        ({"scope": "item"}, "Say which item."),
        ({"scope": "item", "item": "nobody"}, "There is no item"),
        ({"kind": "poem"}, "Select a valid choice"),
        ({"questions_version": "77"}, "Select a valid choice"),
        ({"alternatives": "9"}, "Select a valid choice"),
    ],
)
def test_a_form_that_makes_no_sense_says_so(as_: As, ada: User, wrong: dict[str, str], why: str) -> None:
    given = {"drafter": drafters.default().pk, "kind": "both", "scope": "waiting", "alternatives": 1, **wrong}
    reply = as_(ada).post(reverse("drafting_list"), given)
    assert reply.status_code == 400
    assert why in reply.content.decode()


def test_an_estimate_of_a_wish_that_makes_no_sense_says_why(as_: As, ada: User) -> None:
    given = {"drafter": drafters.default().pk, "kind": "both", "scope": "variants", "alternatives": 1}
    estimate = as_(ada).get(reverse("drafting_estimate"), given)
    assert estimate.status_code == 200
    assert "only the false premise is drafted" in estimate.content.decode()


def test_a_job_is_stopped_and_continued_on_its_page(as_: As, ada: User) -> None:
    place(ada)
    job = draft_jobs.start(wish=Wish("questions"), drafter=drafters.default(), by=ada)
    client = as_(ada)
    client.post(reverse("drafting_stop", args=[job.pk]))
    page = client.get(reverse("drafting_job", args=[job.pk])).content.decode()
    assert "Stopped by ada." in page
    assert "every 2s" not in page
    client.post(reverse("drafting_continue", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "running"
    assert client.post(reverse("drafting_continue", args=[job.pk])).status_code == 409


def test_a_draft_shows_every_call_as_text(as_: As, ada: User, call: DraftCall) -> None:
    page = as_(ada).get(reverse("draft_detail", args=[call.draft_id])).content.decode()
    assert "&lt;b&gt;{}&lt;/b&gt;" in page
    raw = as_(ada).get(reverse("draft_call_raw", args=[call.pk, "reply"]))
    assert (raw.content, raw["Content-Type"]) == (b"<b>{}</b>", "text/plain; charset=utf-8")


def test_a_call_can_not_be_changed(call: DraftCall) -> None:
    with pytest.raises(DatabaseError, match="A call can not be changed"), transaction.atomic():
        DraftCall.objects.update(text="another")


# Proposals -------------------------------------------------------------------------------------------------------


def test_a_whole_proposal_is_put_in_and_submitted_by_one_button_and_the_next_one_comes(as_: As, ada: User) -> None:
    first, second = place(ada), place(ada)
    for item in (first, second):
        premise(item, based_on=questions(item))
    client = as_(ada)
    page = client.get(reverse("proposals"), follow=True).content.decode()
    assert "Put in and submit" in page
    assert "1 of 2" in page
    assert f'href="{reverse("picture", args=[second.image.sha256])}"' in page  # already loading
    keys = ",".join(str(pk) for pk in first.drafts.order_by("pk").values_list("pk", flat=True))
    given = {"drafts": keys, "version": 1, "do": "submit"}
    reply = client.post(reverse("proposal_decide", args=[first.key]), given)
    assert reply.url == reverse("proposal", args=[second.key])
    first.refresh_from_db()
    assert (first.state, first.modified_target_description) == ("in_review", MODIFIED)
    again = client.post(reverse("proposal_decide", args=[first.key]), given)
    assert again.status_code == 409
    assert "changed this item meanwhile" in again.content.decode()


def test_a_proposal_with_an_error_is_put_in_to_be_mended(as_: As, ada: User) -> None:
    item = place(ada)
    draft = premise(item, "the striped cat on the chair", based_on=questions(item))
    client = as_(ada)
    page = client.get(reverse("proposal", args=[item.key])).content.decode()
    assert "Put in and submit" not in page
    assert "finding-error" in page
    given = {"drafts": f"{draft.based_on_id},{draft.pk}", "version": 1}
    refused = client.post(reverse("proposal_decide", args=[item.key]), {**given, "do": "submit"})
    assert refused.status_code == 400
    reply = client.post(reverse("proposal_decide", args=[item.key]), {**given, "do": "put_in"})
    assert reply.url == reverse("item_edit", args=[item.key])


def test_alternatives_stand_side_by_side_and_one_is_discarded(as_: As, ada: User) -> None:
    item = place(ada)
    one, two = questions(item, alternative=1), questions(item, "the small cat", alternative=2)
    client = as_(ada)
    page = client.get(reverse("proposal", args=[item.key])).content.decode()
    assert 'data-key="1"' in page
    assert 'data-key="2"' in page
    reply = client.post(reverse("proposal_decide", args=[item.key]), {"drafts": str(one.pk), "do": "discard"})
    assert reply.url == reverse("proposal", args=[item.key])
    assert Draft.objects.get(pk=one.pk).discarded_by == ada
    reply = client.post(reverse("proposal_decide", args=[item.key]), {"drafts": str(two.pk), "do": "discard"})
    assert "No draft waits for a decision" in client.get(reply.url).content.decode()
    assert Draft.objects.count() == 2


def test_what_another_discarded_meanwhile_is_not_put_in_from_an_old_page(as_: As, ada: User, ben: User) -> None:
    item = place(ada)
    draft = questions(item)
    drafts.discard(drafts=[draft], by=ben)
    given = {"drafts": draft.pk, "version": item.version, "do": "put_in"}
    reply = as_(ada).post(reverse("proposal_decide", args=[item.key]), given)
    assert (reply.status_code, "decided on this draft meanwhile" in reply.content.decode()) == (409, True)
    again = as_(ada).post(reverse("draft_apply", args=[item.key, draft.pk]), {"version": item.version})
    assert again.status_code == 302  # from the item's page, where it is shown as set aside, it can be


def test_drafts_of_another_item_are_not_put_in(as_: As, ada: User) -> None:
    item, other = place(ada), place(ada)
    theirs = questions(other)
    reply = as_(ada).post(
        reverse("proposal_decide", args=[item.key]), {"drafts": f"{theirs.pk},x,{10**30}", "version": 1, "do": "put_in"}
    )
    assert reply.status_code == 400
    item.refresh_from_db()
    assert item.target_description == ""


# Drafters --------------------------------------------------------------------------------------------------------


def drafter_values(**more: Any) -> dict[str, Any]:
    return {
        "name": "GPT-5.4 as drafter",
        "provider": "openai",
        "model_id": "gpt-5.4",
        "api_key_env": "OPENAI_API_KEY",
        "max_output_tokens": 8192,
        "concurrency": 4,
        "options": "{}",
        **more,
    }


def test_a_drafter_is_added_edited_and_taken_out_of_use(as_: As, ada: User) -> None:
    client = as_(ada)
    assert client.post(reverse("drafter_new"), drafter_values(price_input="1.25")).status_code == 302
    made = Drafter.objects.get(name="GPT-5.4 as drafter")
    page = client.get(reverse("drafter_list")).content.decode()
    assert "1.25 / – / –" in page
    client.post(reverse("drafter_edit", args=[made.pk]), drafter_values(concurrency=9))
    client.post(reverse("drafter_active", args=[made.pk]), {"active": "0"})
    made.refresh_from_db()
    assert (made.concurrency, made.active, made.price_input) == (9, False, None)
    with pytest.raises(Conflict, match="not in use"):
        drafts.request(item=place(ada), kind="questions", drafter=made, by=ada)
    client.post(reverse("drafter_active", args=[made.pk]), {"active": "1"})
    made.refresh_from_db()
    assert made.active


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"api_key_env": "sk-live-1234"}, "never a key"),
        ({"api_key_env": "AIzaSyA1234567890"}, "never a key"),
        ({"base_url": "javascript:alert(1)"}, "starts with http"),
        ({"concurrency": "0"}, "at least 1"),
        ({"max_output_tokens": "0"}, "at least 1"),
        ({"price_input": "-1"}, "0 or more"),
        ({"temperature": "nan"}, ""),
        ({"provider": "scripted"}, "Select a valid choice"),
        ({"options": "[1]"}, "JSON object"),
        ({"concurrency": "-1"}, "greater than or equal to 0"),
        ({"name": ""}, "required"),
    ],
)
def test_a_drafter_that_can_not_be_asked_is_refused(as_: As, ada: User, wrong: dict[str, Any], why: str) -> None:
    reply = as_(ada).post(reverse("drafter_new"), drafter_values(**wrong))
    assert reply.status_code == 400
    assert why in reply.content.decode()
    assert not Drafter.objects.filter(provider="openai").exists()


# Prompts ---------------------------------------------------------------------------------------------------------


@pytest.mark.db
def test_a_saved_version_is_new_and_leaves_the_others_as_they_are(ada: User) -> None:
    before = stored.load("detector", 1)
    made = prompts.save(name="detector", text="Judge.\r\nThen say so. ", note="shorter", by=ada)
    assert (made.version, made.text, made.by) == (101, "Judge.\nThen say so.", "ada")
    assert stored.versions("detector") == (1, 101)
    assert stored.load("detector").sha256 == stored.load("detector", 101).sha256 == made.sha256
    assert stored.load("detector", 1) == before
    assert prompts.save(name="detector", text="Judge well.", note="kinder", by=ada).version == 102
    with pytest.raises(DatabaseError, match="A saved prompt can not be changed"), transaction.atomic():
        PromptVersion.objects.update(text="another")


@pytest.mark.parametrize(
    ("text", "note", "why"),
    [
        ("", "x", "A prompt has text"),
        ("Judge.", " ", "Say in the note"),
        ("Judge.\x00", "x", "control character"),
        ("j" * 50_001, "x", "at most 50,000"),
    ],
)
def test_a_version_without_text_or_note_is_refused(ada: User, text: str, note: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        prompts.save(name="detector", text=text, note=note, by=ada)


def test_a_text_that_is_there_already_is_refused(ada: User) -> None:
    with pytest.raises(Conflict, match="word for word version 1"):
        prompts.save(name="inference", text=f"\n{stored.load('inference', 1).text}  ", note="same", by=ada)
    prompts.save(name="inference", text="Answer.", note="short", by=ada)
    with pytest.raises(Conflict, match="word for word version 101"):
        prompts.save(name="inference", text="Answer.", note="same", by=ada)
    prompts.save(name="detector", text="Answer.", note="another prompt may say the same", by=ada)


def test_a_shipped_version_asked_for_by_number_needs_no_database(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert stored.load("detector", 1).version == 1


def test_the_editor_shows_the_difference_then_saves(as_: As, ada: User) -> None:
    client, address = as_(ada), reverse("prompt_new", args=["inference"])
    text = stored.load("inference", 1).text.replace("helpful", "terse")
    page = client.post(address, {"text": text, "note": "", "show": "1"}).content.decode()
    assert '<mark class="was">helpful</mark>' in page
    assert '<mark class="now">terse</mark>' in page
    assert not PromptVersion.objects.exists()
    refused = client.post(address, {"text": text, "note": "", "save": "1"})
    assert refused.status_code == 400
    assert "terse" in refused.content.decode()
    saved = client.post(address, {"text": text, "note": "less polite", "save": "1"})
    assert saved.url == reverse("prompt_version", args=["inference", 101])
    beside = client.get(f"{saved.url}?beside=1").content.decode()
    assert '<mark class="was">helpful</mark>' in beside
    assert "less polite" in client.get(reverse("prompt_list")).content.decode()


def test_a_job_drafts_with_the_version_that_was_chosen(as_: As, ada: User) -> None:
    place(ada)
    made = prompts.save(name="draft_questions", text="Draft.", note="short", by=ada)
    given = {"drafter": drafters.default().pk, "kind": "questions", "scope": "waiting", "alternatives": 1}
    as_(ada).post(reverse("drafting_list"), {**given, "questions_version": 1})
    assert Draft.objects.get().prompt_version == "1"
    Draft.objects.update(state="failed")
    as_(ada).post(reverse("drafting_list"), given)
    assert Draft.objects.latest("pk").prompt_sha256 == made.sha256
