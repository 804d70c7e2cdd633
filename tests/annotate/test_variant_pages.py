"""The pages of the variants: choosing, the six side by side, checks; and what others get of them."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Draft, Drafter, Item, User, VariantCheck
from annotate.services import drafters, drafts, items, variant_checks, variants
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]
FOX, OWL = "the striped fox on the chair", "the striped owl on the chair"


@pytest.fixture
def parent(ada: User) -> Item:
    row = factories.item(state="approved")
    variants.choose(parent=row, by=ada)
    return row


def variant(parent: Item, premise_class: str, letter: str) -> Item:
    return Item.objects.get(parent=parent, premise_class=premise_class, variant=letter)


def typed(parent: Item, **changes: str) -> dict[str, str]:
    """The form of the six as a browser sends it, with changes."""
    fields = {}
    for row in parent.variants.all():
        texts = items.texts_of(row)
        start = f"{row.premise_class}_{row.variant}"
        shown = {"premise": texts.modified_target_description, "question": texts.questions[4].modified}
        fields |= {f"{start}-version": str(row.version), f"{start}-machine": shown["question"]}
        for name, text in shown.items():
            fields |= {f"{start}-{name}": text, f"initial-{start}-{name}": text}
    return {**fields, **changes}


def check_of(parent: Item, ada: User) -> VariantCheck:
    row = variant(parent, "identity", "A")
    row = variants.save(move=variants.Move(row, row.version, FOX, ""), by=ada)
    variant_checks.request(variants=[row], checkers=variant_checks.scripted_checkers(), by=ada)
    return VariantCheck.objects.all()[0]


# Who may open what ---------------------------------------------------------------------------------------------

GETS = ["variant_list", "variant_choose", "variant_checks", "variant_checks_live"]
POSTS = [
    "variant_choose",
    "variant_draw",
    "variant_adopt",
    "variant_draft",
    "variant_checks",
    "variant_checks_stop",
    "variant_checks_continue",
    "variant_checkers_offline",
]
PARENT_POSTS = ["variant_parent", "variant_sync", "variant_submit", "variant_aside"]


def addresses(parent: Item, check: VariantCheck) -> list[tuple[str, str]]:
    pages = [("get", reverse(name)) for name in GETS] + [("post", reverse(name)) for name in POSTS]
    pages += [("get", reverse("variant_parent", args=[parent.key])), ("get", reverse("variant_check", args=[check.pk]))]
    pages += [("post", reverse(name, args=[parent.key])) for name in PARENT_POSTS]
    pages += [("post", reverse("variant_use", args=[parent.key, 1]))]
    return [*pages, ("post", reverse("variant_checker_family", args=[check.checker_id]))]


def test_none_but_authors_may_use_these_pages(parent: Item, as_: As, ada: User, lea: User, rita: User) -> None:
    check = check_of(parent, ada)
    for who in (lea, rita):
        client = as_(who)
        for method, address in addresses(parent, check):
            assert getattr(client, method)(address).status_code == 404, (who.username, method, address)


def test_who_is_not_signed_in_is_sent_to_sign_in(parent: Item, ada: User, client: Client) -> None:
    for method, address in addresses(parent, check_of(parent, ada)):
        reply = getattr(client, method)(address)
        assert (reply.status_code, reply.url.partition("?")[0]) == (302, reverse("sign_in")), address


def test_every_page_answers_an_author_with_little_and_with_more(as_: As, ada: User) -> None:
    client = as_(ada)
    for address in map(reverse, GETS):
        assert client.get(address).status_code == 200, address
    parents = [factories.item(state="approved") for _ in range(4)]
    variants.choose(parent=parents[0], by=ada)
    check = check_of(parents[0], ada)
    pages = [address for method, address in addresses(parents[0], check) if method == "get"]
    few = {address: queries(client, address) for address in pages}
    for row in parents[1:]:
        variants.choose(parent=row, by=ada)
        check_of(row, ada)
    many = {address: queries(client, address) for address in pages}
    assert {address: n for address, n in many.items() if n > 30} == {}
    assert {address: (n, many[address]) for address, n in few.items() if many[address] > n + 1} == {}


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200, address
    return len(asked)


# Choosing --------------------------------------------------------------------------------------------------------


def test_images_are_drawn_by_seed_or_ticked(as_: As, ada: User) -> None:
    client = as_(ada)
    rows = [factories.item(state="approved") for _ in range(3)]
    client.post(reverse("variant_choose"), {"item": [rows[0].key]})
    assert set(variants.parents()) == {rows[0]}
    page = client.get(reverse("variant_choose")).content.decode()
    assert rows[1].key in page
    assert f'value="{rows[0].key}"' not in page
    reply = client.post(reverse("variant_draw"), {"seed": "7"}, follow=True).content.decode()
    assert "2 images drawn by seed 7 from 2." in reply
    assert "beside 1 chosen before" in reply
    assert client.post(reverse("variant_draw"), {"seed": "x"}).status_code == 400
    assert client.post(reverse("variant_choose")).status_code == 400


def test_the_list_puts_first_what_is_missing_and_counts_what_is_approved(as_: As, ada: User) -> None:
    whole, open_ = factories.item(state="approved"), factories.item(state="approved")
    for row in (whole, open_):
        variants.choose(parent=row, by=ada)
    Item.objects.filter(parent=whole).update(state="approved")
    page = as_(ada).get(reverse("variant_list")).content.decode()
    assert page.index(reverse("variant_parent", args=[open_.key])) < page.index(
        reverse("variant_parent", args=[whole.key])
    )
    assert "6 of 180 variants approved" in page


# The six side by side ---------------------------------------------------------------------------------------------


def test_the_six_are_saved_together_and_submitted(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_parent", args=[parent.key])
    given = typed(parent, **{"identity_A-premise": FOX, "identity_B-premise": OWL})
    assert client.post(address, given).status_code == 302
    assert variant(parent, "identity", "B").modified_target_description == OWL
    assert items.texts_of(variant(parent, "identity", "A")).questions[4].modified.endswith("fox on the chair?")
    assert variant(parent, "location", "A").version == 1
    page = client.post(reverse("variant_submit", args=[parent.key]), follow=True).content.decode()
    assert "2 in review now." in page
    assert variant(parent, "identity", "A").state == "in_review"


def test_what_somebody_else_saved_meanwhile_is_not_overwritten_and_nothing_typed_is_lost(
    as_: As, ada: User, ben: User, parent: Item
) -> None:
    client, address = as_(ada), reverse("variant_parent", args=[parent.key])
    given = typed(parent, **{"identity_A-premise": FOX, "identity_B-premise": OWL})
    variants.save(move=variants.Move(variant(parent, "identity", "A"), 1, "the striped hen on the chair", ""), by=ben)
    variants.save(move=variants.Move(variant(parent, "location", "A"), 1, "the striped cat on the sofa", ""), by=ben)
    reply = client.post(address, given)
    page = reply.content.decode()
    assert reply.status_code == 409
    assert "ben changed this item meanwhile" in page
    assert "Saved now: “the striped hen on the chair”." in page
    assert f'value="{FOX}"' in page
    assert variant(parent, "identity", "A").modified_target_description == "the striped hen on the chair"
    assert variant(parent, "identity", "B").modified_target_description == OWL
    assert variant(parent, "location", "A").modified_target_description == "the striped cat on the sofa"
    again = {field["name"]: field["value"] for field in fields(page) if "name" in field and "value" in field}
    again["identity_A-question"] = ""
    assert client.post(address, {**typed(parent), **again}).status_code == 302
    assert variant(parent, "identity", "A").modified_target_description == FOX


def fields(page: str) -> list[dict[str, str]]:
    """The inputs of a page."""
    import re
    from html import unescape

    return [
        {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        for tag in re.findall(r"<input[^>]*>", page)
        if "csrf" not in tag
    ]


def test_a_parent_that_changed_is_taken_over_with_one_click(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_parent", args=[parent.key])
    texts = items.texts_of(parent)
    items.edit(item=parent, version=1, texts=items.Texts("tom", *_same(texts)), by=ada)
    page = client.get(address).content.decode()
    assert "6 variants are out of step" in page
    assert "The parent item is in review now" in page
    assert "out of step" in client.get(reverse("variant_list")).content.decode()
    client.post(reverse("variant_sync", args=[parent.key]))
    assert "out of step" not in client.get(address).content.decode()
    assert variant(parent, "identity", "A").target == "tom"


def _same(texts: items.Texts) -> tuple[str, str, object]:
    return texts.target_description, texts.modified_target_description, texts.questions


def test_the_parents_premise_and_a_draft_are_put_in_by_a_click(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_parent", args=[parent.key])
    assert "The parent&#x27;s premise:" in client.get(address).content.decode() or "The parent's premise:" in (
        client.get(address).content.decode()
    )
    client.post(reverse("variant_adopt"), {"parent": parent.key})
    assert variant(parent, "identity", "A").modified_target_description == parent.modified_target_description
    second = variant(parent, "identity", "B")
    drafts.request(item=second, kind="premise", drafter=drafters.default(), by=ada)
    asked = "What is the closest thing to the striped fox on the chair?"
    payload = {"modified_target_description": FOX, "questions": {"4": asked}}
    Draft.objects.update(state="ready", payload=payload)
    assert FOX in client.get(address).content.decode()
    use = reverse("variant_use", args=[parent.key, Draft.objects.get().pk])
    assert client.post(use).status_code == 400
    assert client.post(use, {"version": "1"}).status_code == 302
    assert items.texts_of(variant(parent, "identity", "B")).questions[4].modified == asked
    assert client.post(reverse("variant_use", args=[factories.item().key, 1])).status_code == 404


def test_what_is_missing_is_drafted_as_one_job_a_before_b(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_draft")
    assert "3 premises are being drafted." in client.post(address, follow=True).content.decode()
    assert set(Draft.objects.values_list("item__variant", flat=True)) == {"A"}
    assert client.post(address).status_code == 400  # nothing else waits: B waits for A
    premise = {"modified_target_description": FOX, "questions": {"4": "?"}}
    Draft.objects.filter(item__premise_class="identity").update(state="ready", payload=premise)
    assert "1 premises are being drafted." in client.post(address, follow=True).content.decode()
    assert Draft.objects.get(item__variant="B").item == variant(parent, "identity", "B")


def test_an_image_is_set_aside_and_taken_back(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_aside", args=[parent.key])
    assert client.post(address, {"reason": ""}).status_code == 400
    client.post(address, {"reason": "too dark"})
    assert "0 of 180" in client.get(reverse("variant_list")).content.decode()
    assert "set aside" in client.get(reverse("variant_list")).content.decode()
    client.post(address, {"back": "1"})
    assert variant(parent, "identity", "A").state == "draft"


# Their pages as items ---------------------------------------------------------------------------------------------


def test_a_variant_is_reviewed_edited_and_read_as_any_item_and_says_whose_it_is(
    as_: As, ada: User, parent: Item
) -> None:
    client, row = as_(ada), variant(parent, "identity", "B")
    for name in ("item_review", "item_edit", "item_history"):
        page = client.get(reverse(name, args=[row.key])).content.decode()
        assert "<strong>Variant B</strong> of" in page, name
        assert reverse("variant_parent", args=[parent.key]) in page, name
        assert reverse("item_review", args=[variant(parent, "location", "A").key]) in page, name
    edit = client.get(reverse("item_edit", args=[row.key])).content.decode()
    assert "modified_4" in edit
    assert "content_5" not in edit
    sheet = edit.partition('id="sheet"')[2].partition("</form>")[0]
    assert sheet.count(" readonly") == 6  # target, description, four questions
    assert "Variant" not in client.get(reverse("item_review", args=[parent.key])).content.decode()


# Checks -----------------------------------------------------------------------------------------------------------


def test_checkers_are_chosen_and_fewer_than_three_families_are_said(as_: As, ada: User, parent: Item) -> None:
    client, address = as_(ada), reverse("variant_checks")
    client.post(reverse("variant_adopt"))
    assert "the models here are of 0" in client.get(address).content.decode()
    client.post(reverse("variant_checkers_offline"))
    checkers = list(Drafter.objects.exclude(family="").values_list("pk", flat=True))
    page = client.post(address, {"checkers": checkers[:2]}, follow=True).content.decode()
    assert "2 checks asked for" in page
    assert "They are of 2 of the 3 families" in page
    page = client.post(address, {"checkers": checkers}, follow=True).content.decode()
    assert "1 checks asked for, 2 were there already." in page
    assert "of 2 of the 3" not in page
    assert client.post(address, {"checkers": []}).status_code == 400
    assert client.post(address, {"checkers": ["999"]}).status_code == 400
    assert "3 checks stopped" in client.post(reverse("variant_checks_stop"), follow=True).content.decode()
    assert "3 checks go on" in client.post(reverse("variant_checks_continue"), follow=True).content.decode()


def test_verdicts_stand_beside_the_variant_and_disagreement_is_marked(as_: As, ada: User, parent: Item) -> None:
    client = as_(ada)
    check = check_of(parent, ada)
    good = {"target_visible": True, "premise_false": True, "of_class": True, "natural": True, "single_error": True}
    VariantCheck.objects.update(state="ready", payload={**good, "reason": "Fine."})
    VariantCheck.objects.filter(pk=check.pk).update(payload={**good, "natural": False, "reason": "Nobody says so."})
    page = client.get(reverse("variant_parent", args=[parent.key])).content.decode()
    assert "models disagree" in page
    assert "Alder: not that it is natural" in page
    assert "Birch: all five hold" in page
    assert "disputed" in client.get(reverse("variant_list")).content.decode()
    assert "Nobody says so." in client.get(reverse("variant_checks")).content.decode()
    row = variant(parent, "identity", "A")
    assert "not that it is natural" in client.get(reverse("item_review", args=[row.key])).content.decode()
    variants.save(move=variants.Move(row, row.version, OWL, ""), by=ada)  # a check of a former wording is none
    assert "models disagree" not in client.get(reverse("variant_parent", args=[parent.key])).content.decode()


def test_a_failed_check_shows_its_raw_reply(as_: As, ada: User, parent: Item) -> None:
    check = check_of(parent, ada)
    VariantCheck.objects.filter(pk=check.pk).update(
        state="failed", reply=b"<b>Prose</b>", error="The reply is not JSON."
    )
    page = as_(ada).get(reverse("variant_check", args=[check.pk])).content.decode()
    assert "The reply is not JSON." in page
    assert "&lt;b&gt;Prose&lt;/b&gt;" in page


def test_a_family_is_named_on_the_page(as_: As, ada: User) -> None:
    gpt = Drafter.objects.create(name="GPT", provider="openai", model_id="gpt")
    as_(ada).post(reverse("variant_checker_family", args=[gpt.pk]), {"family": "GPT"})
    assert Drafter.objects.get(pk=gpt.pk).family == "GPT"
