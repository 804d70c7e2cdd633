"""Validation sets and agreement as pages, for the right and the wrong person."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.services import labels
from benchmark.models import Detector, Dialogue, Exposure, Response, Run, ValidationSet
from benchmark.services import validation
from tests import factories

As = Callable[[User], Client]


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over six dialogues, labelled by two detectors."""
    row = factories.dataset(items=6)
    for name in ("Model A", "Model B"):
        run = factories.run(dataset=row, model=factories.model(name), answered=10, state="complete")
        for slug in ("strict", "lenient"):
            detector = Detector.objects.filter(slug=slug).first() or factories.detector(slug)
            factories.detector_labels(detector, run, lambda response: response.turn % 2 == 0)
    return row


def opened(over: Dataset, people: list[User], **more: Any) -> ValidationSet:
    return validation.open(
        **{"dataset": over, "annotators": people, "by": None, "per_cell": 2, "seed": 918273645, **more}
    )


def label_all(row: ValidationSet, who: User, detect: bool = True) -> None:
    mine = row.label_set.assignments.get(person=who)
    for number, task in enumerate(labels.tasks_in_order(mine)):
        verdict = detect if number % 3 else not detect
        labels.record(assignment=mine, task=task, detect=verdict, client=uuid.uuid4(), sequence=1)
    labels.submit(assignment=mine)


PLAN = {"design": "model_class", "per_cell": 2, "naming": "leave", "mode": "crossed"}
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def wanted(over: Dataset, people: list[User], **more: Any) -> dict[str, Any]:
    return {"dataset": over.pk, "annotators": [person.pk for person in people], **PLAN, **more}


def hidden(page: str) -> dict[str, list[str]]:
    """What the preview sends on with its buttons."""
    found: dict[str, list[str]] = {}
    for name, value in HIDDEN.findall(page):
        found.setdefault(name, []).append(value)
    return found


def test_ada_previews_a_draw_and_draws_it(ada: User, lea: User, lou: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    preview = client.post(url, {**wanted(over, [lea, lou]), "preview": "1"}).text
    assert not ValidationSet.objects.exists()
    for said in ('Answers to label</dt><dd class="tile-value">12<', 'Labels to give</dt><dd class="tile-value">24<'):
        assert said in preview
    reply = client.post(url, {**hidden(preview), "draw": "1"})
    row = ValidationSet.objects.get()
    assert reply["Location"] == reverse("validation_detail", args=[row.pk])
    assert row.label_set.opened_by == ada
    page = client.get(reply["Location"]).text
    assert "12 of 84 answers" in page
    assert str(row.seed) in page
    assert row.label_set.name in client.get(reverse("validation_list")).text


def test_a_double_click_on_draw_opens_one_set(ada: User, lea: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    sent = {**hidden(client.post(url, wanted(over, [lea])).text), "draw": "1"}
    replies = [client.post(url, sent) for _ in range(3)]
    row = ValidationSet.objects.get()
    assert {reply["Location"] for reply in replies} == {reverse("validation_detail", args=[row.pk])}
    # Another preview is another page, and may draw again.
    client.post(url, {**hidden(client.post(url, wanted(over, [lea])).text), "draw": "1"})
    assert ValidationSet.objects.count() == 2


def test_a_preview_tells_what_is_short_and_what_names_a_model(ada: User, lea: User, over: Dataset, as_: As) -> None:
    run = over_run(over, "Model A")
    late = Dialogue.objects.create(run=run, item=factories.dataset_item(over), state="complete")
    Response.objects.create(dialogue=late, turn=4, text="I am Gemini, and I see no dog.")
    page = as_(ada).post(reverse("validation_new"), wanted(over, [lea], per_cell=15, naming="replace")).text
    # 15 answers of Model A, class identity, of which one names itself; 14 of all others.
    assert "6 of the strata hold fewer answers than are wanted" in page
    assert "1 named" in page
    assert "replace each by the next draw of its stratum, unseen" in page


def over_run(over: Dataset, name: str) -> Any:
    return Run.objects.get(dataset=over, model__name=name)


def test_a_preview_shows_no_answer_and_is_the_same_for_every_seed(ada: User, lea: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    pages = [client.post(url, wanted(over, [lea], seed=seed)).text for seed in (11111, 22222)]
    bare = [
        re.sub(r'name="(csrfmiddlewaretoken|client)" value="[^"]*"|csrf-token" content="[^"]*"', "", page)
        for page in pages
    ]
    assert "11111" in bare[0]
    assert re.sub(r'nonce="[^"]*"', "", bare[0].replace("11111", "22222")) == re.sub(r'nonce="[^"]*"', "", bare[1])
    assert not any(word in pages[0] for word in ("Answer 4 about", "item0"))


def test_who_labels_chooses_no_seed_and_gets_none(ada: User, lea: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    refused = client.post(url, wanted(over, [ada, lea], seed=424242)).text
    assert "its seed must not be known to you" in refused
    preview = client.post(url, wanted(over, [ada, lea])).text
    assert "drawn with the answers" in preview
    page = client.post(url, {**hidden(preview), "draw": "1"}, follow=True).text
    row = ValidationSet.objects.get()
    assert str(row.seed) not in page
    assert row.design["sha256"] not in page
    assert "withheld from you until your labels are locked" in page
    assert client.post(reverse("validation_repeat", args=[row.pk])).status_code == 403


def test_what_was_typed_stays_at_every_step(ada: User, lea: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    preview = client.post(url, wanted(over, [lea], seed=77, name="Round one", correct=3, show_picture="on")).text
    page = client.post(url, {**hidden(preview), "change": "1"}).text
    assert 'value="77"' in page
    assert 'value="Round one"' in page
    assert re.search(r'name="correct" value="3"', page)
    assert re.search(rf'value="{lea.pk}"[^>]*checked', page)
    assert re.search(r'name="show_picture"[^>]*checked', page)
    assert not ValidationSet.objects.exists()


def test_what_was_typed_stays_when_the_draw_is_refused(ada: User, lea: User, over: Dataset, as_: As) -> None:
    Run.objects.filter(model__name="Model A").update(state="running")
    reply = as_(ada).post(reverse("validation_new"), wanted(over, [lea], seed=77))
    assert "The run of Model A is running" in reply.text
    assert 'value="77"' in reply.text
    assert not ValidationSet.objects.exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"per_cell": ""}, "Say how many."),
        ({"design": "random", "total": "0"}, "greater than or equal to 1"),
        ({"design": "disagreement", "disagreeing": 0, "agreeing": 0}, "at least one answer"),
        ({"mode": "pool", "labels_per_task": ""}, "Say how many."),
        ({"annotators": []}, "Choose at least one annotator."),
        ({"design": "best"}, "Select a valid choice"),
    ],
)
def test_a_form_that_says_too_little_is_shown_again(
    ada: User, lea: User, over: Dataset, as_: As, more: dict[str, Any], said: str
) -> None:
    page = as_(ada).post(reverse("validation_new"), wanted(over, [lea], **more)).text
    assert said in page
    assert "Preview of the draw" not in page


def test_a_pool_needs_nobody_yet(ada: User, over: Dataset, as_: As) -> None:
    client, url = as_(ada), reverse("validation_new")
    preview = client.post(url, wanted(over, [], mode="pool", labels_per_task=3)).text
    assert 'Labels to give</dt><dd class="tile-value">36<' in preview
    assert "others have to join" in preview
    client.post(url, {**hidden(preview), "draw": "1"})
    assert ValidationSet.objects.get().label_set.labels_per_task == 3


def test_an_answer_that_came_since_the_preview_asks_for_another_look(
    ada: User, lea: User, over: Dataset, as_: As
) -> None:
    client, url = as_(ada), reverse("validation_new")
    preview = client.post(url, wanted(over, [lea])).text
    late = Dialogue.objects.create(run=over_run(over, "Model A"), item=factories.dataset_item(over), state="complete")
    factories.answers(late, 10)
    assert "changed since the preview" in client.post(url, {**hidden(preview), "draw": "1"}).text
    assert not ValidationSet.objects.exists()


def test_ada_repeats_a_draw(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    page = as_(ada).post(reverse("validation_repeat", args=[row.pk]), follow=True).text
    assert "byte for byte" in page
    ValidationSet.objects.update(seed=1)
    assert "another draw" in as_(ada).post(reverse("validation_repeat", args=[row.pk]), follow=True).text


def test_a_set_shows_its_design_strata_and_probabilities(ada: User, lea: User, over: Dataset, as_: As) -> None:
    page = as_(ada).get(reverse("validation_detail", args=[opened(over, [lea]).pk])).text
    assert "by model and class: the study&#x27;s" in page
    assert "0.1429, the same for all" in page  # 2 of 14
    assert "0 of 84 name a model or its maker; 0 in the set" in page
    assert page.count("p 0.143") == 6


def test_a_set_whose_draw_is_not_known_has_a_page(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    ValidationSet.objects.update(design={})
    assert "Repeat the draw" not in as_(ada).get(reverse("validation_detail", args=[row.pk])).text
    assert as_(ada).get("/api/v1/validation-sets/").json()[0]["naming"] is None


def test_the_form_offers_only_people_who_can_label(ada: User, lea: User, rita: User, as_: As) -> None:
    page = as_(ada).get(reverse("validation_new")).text
    assert "lea" in page
    assert "rita" not in page


def test_progress_is_shown_by_person_without_a_label(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    label_all(row, lea)
    page = as_(ada).get(reverse("validation_detail", args=[row.pk])).text
    assert "12 of 12 labelled" in page
    assert "submitted" in page
    assert "goes along" not in page
    assert "corrects" not in page


def test_the_seed_is_hidden_from_an_author_who_labels_until_they_submit(
    ada: User, ben: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [ben])
    url = reverse("validation_detail", args=[row.pk])
    assert "918273645" not in as_(ben).get(url).text
    assert "918273645" in as_(ada).get(url).text
    label_all(row, ben)
    assert "918273645" in as_(ben).get(url).text


def test_the_report_says_what_an_annotator_had_seen(ada: User, ben: User, over: Dataset, as_: As) -> None:
    Exposure.objects.create(person=ben, dataset=over, page="dialogue")
    row = opened(over, [ben])
    Exposure.objects.create(person=ben, dataset=over, page="dialogue", withheld=True)
    Exposure.objects.create(person=ben, dataset=over, page="dialogue", withheld=True)
    cells = as_(ada).get(reverse("validation_detail", args=[row.pk])).text
    assert '<td class="num">1</td>' in cells
    assert '<td class="num">2</td>' in cells


def test_ada_closes_a_set_once(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    url = reverse("validation_close", args=[row.pk])
    assert as_(ada).post(url).status_code == 302
    reply = as_(ada).post(url)
    assert reply.status_code == 409
    assert "never reopens" in reply.text


def test_agreement_shows_kappa_with_its_n_and_marks_what_is_simulated(
    rita: User, lea: User, lou: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [lea, lou])
    label_all(row, lea)
    label_all(row, lou)
    page = as_(rita).get(reverse("agreement")).text
    assert "H1 – H2" in page
    assert "n=12" in page
    assert "simulated" in page
    assert re.search(r"\blea\b", page) is None
    assert "lou" not in page


def test_an_undefined_kappa_is_a_dash_with_its_reason(rita: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    page = as_(rita).get(reverse("agreement_set", args=[row.pk])).text
    assert "no response that both labelled" in page


def test_agreement_is_withheld_from_an_author_who_labels(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [ada, lea])
    assert as_(ada).get(reverse("agreement_set", args=[row.pk])).status_code == 403
    page = as_(ada).get(reverse("agreement"))
    assert "Withheld for now" in page.text
    assert "kappa-" not in page.text
    label_all(row, ada)
    assert as_(ada).get(reverse("agreement_set", args=[row.pk])).status_code == 200


def test_without_a_set_the_page_says_what_comes_next(ada: User, rita: User, as_: As) -> None:
    assert "Open a set" in as_(ada).get(reverse("agreement")).text
    assert "Open a set" not in as_(rita).get(reverse("agreement")).text


def test_the_pages_do_not_exist_for_the_wrong_person(lea: User, rita: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    for who in (lea, rita):
        for name in ("validation_list", "validation_new"):
            assert as_(who).get(reverse(name)).status_code == 404
        assert as_(who).get(reverse("validation_detail", args=[row.pk])).status_code == 404
        assert as_(who).post(reverse("validation_close", args=[row.pk])).status_code == 404
        assert as_(who).post(reverse("validation_repeat", args=[row.pk])).status_code == 404
        assert as_(who).post(reverse("validation_new"), {**wanted(over, [lea]), "draw": "1"}).status_code == 404
    for name, args in (("agreement", []), ("agreement_set", [row.pk])):
        assert as_(lea).get(reverse(name, args=args)).status_code == 404
        assert as_(rita).get(reverse(name, args=args)).status_code == 200
        assert Client().get(reverse(name, args=args)).status_code == 302


def test_pages_take_few_queries(
    ada: User, lea: User, lou: User, over: Dataset, as_: As, django_assert_max_num_queries: Any
) -> None:
    row = opened(over, [lea, lou])
    client = as_(ada)
    for url in (
        reverse("agreement_set", args=[row.pk]),
        reverse("validation_detail", args=[row.pk]),
        reverse("validation_list"),
    ):
        with django_assert_max_num_queries(30):
            client.get(url)
    with django_assert_max_num_queries(30):
        client.post(reverse("validation_new"), wanted(over, [lea, lou]))
