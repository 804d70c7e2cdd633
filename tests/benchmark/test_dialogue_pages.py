"""The dialogue reader shows every turn word for word, to open eyes alone."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import User
from benchmark.models import Attempt, Dialogue, Exposure, Response
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
NASTY = "<script>alert(1)</script>\n  **kept** as typed"


@pytest.fixture
def dialogue() -> Dialogue:
    run = factories.run(dataset=factories.dataset(items=2), answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), run, lambda response: response.turn == 5)
    return run.dialogues.first()  # type: ignore[return-value]


def addresses(dialogue: Dialogue) -> list[str]:
    attempt = Attempt.objects.create(
        dialogue=dialogue, turn=1, outcome="answered", started_at=timezone.now(), raw=b'{"secret": "raw words"}'
    )
    return [
        reverse("dialogue_detail", args=[dialogue.pk]),
        reverse("response_raw", args=[dialogue.pk, 1]),
        reverse("attempt_raw", args=[attempt.pk]),
    ]


@pytest.fixture
def nasty() -> Dialogue:
    """A dialogue with one answer that could do harm, and its raw reply."""
    made = factories.run(state="running").dialogues.get()
    Response.objects.create(dialogue=made, turn=1, text=NASTY, raw=b'{"text": "<b>raw</b>"}', cut=True)
    return made


def test_readers_and_authors_read_and_annotators_find_nothing(
    as_: As, ada: User, rita: User, lea: User, nasty: Dialogue
) -> None:
    for address in addresses(nasty):
        assert as_(ada).get(address).status_code == 200, address
        assert as_(rita).get(address).status_code == 200, address
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address


def test_an_author_who_labels_this_dataset_is_refused_and_the_try_is_kept(as_: As, ada: User, nasty: Dialogue) -> None:
    factories.label_set(nasty.run.dataset, [ada])
    for address in addresses(nasty):
        answer = as_(ada).get(address)
        assert answer.status_code == 403
        assert "raw words" not in answer.content.decode()
        assert "kept" not in answer.content.decode()
    assert Exposure.objects.filter(person=ada, withheld=True, dialogue=nasty).count() == 3


def test_each_look_is_recorded(as_: As, rita: User, dialogue: Dialogue) -> None:
    as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk]))
    seen = Exposure.objects.get()
    assert (seen.person, seen.dialogue, seen.withheld) == (rita, dialogue, False)


def test_text_of_a_model_is_text(as_: As, rita: User, nasty: Dialogue) -> None:
    page = as_(rita).get(reverse("dialogue_detail", args=[nasty.pk])).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\n  **kept** as typed" in page
    assert "<script>alert" not in page
    raw = as_(rita).get(reverse("response_raw", args=[nasty.pk, 1]))
    assert raw.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert raw.headers["X-Content-Type-Options"] == "nosniff"
    assert raw.content == b'{"text": "<b>raw</b>"}'


def test_the_question_is_shown_as_asked_with_its_change_marked(as_: As, rita: User, dialogue: Dialogue) -> None:
    page = as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk])).content.decode()
    assert "What is the closest thing to the striped <mark>dog</mark> on the chair?" in page
    assert page.count("Correct: ") == 7


def test_labels_are_words_and_marked_as_simulated(as_: As, rita: User, dialogue: Dialogue) -> None:
    page = as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk])).content.decode()
    assert page.count(">correction</span>") == 1
    assert page.count("cooperation</span>") == 6
    assert page.count("no correction</span>") == 3
    assert page.count("simulated") > 10


def test_a_turn_without_text_says_why(as_: As, rita: User) -> None:
    run = factories.run(state="incomplete")
    dialogue = factories.answers(run.dialogues.get(), 2, state="stopped")
    Attempt.objects.create(
        dialogue=dialogue,
        turn=3,
        outcome="blocked",
        reason="SAFETY filter",
        request_id="req-42",
        started_at=timezone.now(),
    )
    page = as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk])).content.decode()
    assert "No text: SAFETY filter" in page
    assert "req-42" in page
    assert page.count("</svg>not asked</span>") == 7


def test_one_walks_from_dialogue_to_dialogue_by_key(as_: As, rita: User, dialogue: Dialogue) -> None:
    second = dialogue.run.dialogues.last()
    assert second is not None
    first_page = as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk])).content.decode()
    assert f'href="{reverse("dialogue_detail", args=[second.pk])}" data-key="arrowright n"' in first_page
    assert "arrowleft" not in first_page
    last_page = as_(rita).get(reverse("dialogue_detail", args=[second.pk])).content.decode()
    assert f'href="{reverse("dialogue_detail", args=[dialogue.pk])}" data-key="arrowleft p"' in last_page


def test_a_reply_that_was_not_kept_is_not_there(as_: As, rita: User, dialogue: Dialogue) -> None:
    assert as_(rita).get(reverse("response_raw", args=[dialogue.pk, 1])).status_code == 404


def test_a_dialogue_without_a_picture_says_so(as_: As, rita: User) -> None:
    over = factories.dataset(items=0)
    factories.dataset_item(over, image=None)
    dialogue = factories.run(dataset=over, answered=1).dialogues.get()
    page = as_(rita).get(reverse("dialogue_detail", args=[dialogue.pk])).content.decode()
    assert "No picture" in page
