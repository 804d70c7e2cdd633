"""Case studies: nobody's work is lost, answers are text, pictures leave only with their licence's leave."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark import case_export, cases
from benchmark.models import Attempt, CaseStudy, Dialogue, Exposure, PinnedDialogue, Response, Run
from benchmark.services import cases as service
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
ODD = "<b>No</b>, there is a *cat*.\n1. see www.x.example [here](javascript:alert(1))"


@pytest.fixture
def runs(ada: User) -> list[Run]:
    """Three models over three items, the first item's picture open, the second's not; two detectors."""
    over, open_ = factories.dataset("Quince", items=0), "https://creativecommons.org/publicdomain/zero/1.0/"
    factories.dataset_item(over, license="CC0", license_url=open_, author="A. Photographer")
    factories.dataset_item(over, license="CC BY-ND 2.0", license_url="", author="N. Derivatives")
    factories.dataset_item(over, image=None)
    made = [
        factories.run(dataset=over, model=factories.model(f"M{n}"), answered=10, state="complete") for n in range(3)
    ]
    strict, lenient = factories.detector("strict"), factories.detector("lenient")
    for run in made:
        factories.detector_labels(strict, run, lambda response: response.turn >= 4)
        factories.detector_labels(lenient, run, lambda response: response.turn >= 8)
    return made


@pytest.fixture
def case(runs: list[Run], ada: User) -> CaseStudy:
    made = service.create(dataset=runs[0].dataset, name="Fading", note="See turn 8.", by=ada)
    service.pin(case=made, dialogues=order(runs), by=ada)
    return made


def order(runs: list[Run]) -> list[Dialogue]:
    """Both models' dialogues on the first item, then on the second."""
    items = list(runs[0].dataset.items.order_by("id"))
    return [Dialogue.objects.get(run=run, item=item) for item in items[:2] for run in runs[:2]]


def shown(case: CaseStudy) -> list[tuple[int, list[str]]]:
    return [
        (group.item.pk, [side.run.model.name for side in group.sides]) for group in cases.groups(cases.pinned(case))
    ]


# Pinning and arranging ------------------------------------------------------------------------------


def test_dialogues_on_one_item_stand_side_by_side_and_move(case: CaseStudy, runs: list[Run]) -> None:
    first, second = (dialogue.item_id for dialogue in order(runs)[::2])
    assert shown(case) == [(first, ["M0", "M1"]), (second, ["M0", "M1"])]
    service.move(case=case, dialogue=order(runs)[0], way="right")
    service.move(case=case, dialogue=order(runs)[3], way="up")
    assert shown(case) == [(second, ["M0", "M1"]), (first, ["M1", "M0"])]
    service.move(case=case, dialogue=order(runs)[3], way="up")  # is the first already
    service.unpin(case=case, dialogue=order(runs)[2])
    service.unpin(case=case, dialogue=order(runs)[2])
    assert shown(case) == [(second, ["M1"]), (first, ["M1", "M0"])]
    assert list(case.pins.values_list("position", flat=True)) == [1, 2, 3]


def test_what_two_people_pin_is_all_there_once(case: CaseStudy, runs: list[Run], ben: User) -> None:
    more = list(Dialogue.objects.filter(run=runs[2]))
    assert service.pin(case=case, dialogues=[*more, order(runs)[0]], by=ben) == len(more)
    assert case.pins.count() == 4 + len(more)
    assert case.pins.filter(pinned_by=ben).count() == len(more)


def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(case: CaseStudy) -> None:
    service.describe(case=case, version=1, name="Fading", note="Ada's")
    with pytest.raises(Conflict, match="Somebody has changed"):
        service.describe(case=case, version=1, name="Fading", note="Ben's")
    assert CaseStudy.objects.get().note == "Ada's"


def test_what_cannot_be_is_refused_with_a_sentence(
    case: CaseStudy, runs: list[Run], ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = factories.run(answered=10, state="complete").dialogues.first()
    with pytest.raises(Invalid, match="over Quince only"):
        service.pin(case=case, dialogues=[other], by=ada)
    with pytest.raises(Invalid, match="of this name already"):
        service.create(dataset=case.dataset, name=" Fading ", by=ada)
    with pytest.raises(Invalid, match="needs a name"):
        service.create(dataset=case.dataset, name=" ", by=ada)
    with pytest.raises(Conflict, match="Take the dialogues out first"):
        service.delete(case=case)
    monkeypatch.setattr(service, "MOST", 4)
    with pytest.raises(Invalid, match="4 dialogues at the most"):
        service.pin(case=case, dialogues=list(runs[2].dialogues.all()), by=ada)


def test_reading_costs_the_same_however_many_are_pinned(
    case: CaseStudy, runs: list[Run], ada: User, django_assert_max_num_queries: Callable[..., object]
) -> None:
    service.pin(case=case, dialogues=list(Dialogue.objects.all()), by=ada)
    with django_assert_max_num_queries(9):  # type: ignore[attr-defined]
        groups = cases.groups(cases.pinned(case))
    assert sum(len(group.sides) for group in groups) == 9


def test_a_turn_without_text_says_why(runs: list[Run]) -> None:
    item = runs[0].dataset.items.order_by("id").first()
    cut = factories.run(dataset=runs[0].dataset, model=factories.model("Stops"))
    dialogue = factories.answers(cut.dialogues.get(item=item), 4, state="stopped")
    Attempt.objects.create(
        dialogue=dialogue, turn=5, outcome="blocked", reason="safety", started_at=dialogue.run.created_at
    )
    (group,) = cases.groups([dialogue])
    assert [line.cells[0].outcome for line in group.lines] == ["answered"] * 4 + ["blocked"] + ["not_asked"] * 5


# Pages -----------------------------------------------------------------------------------------------


def test_ada_finds_an_item_and_pins_what_two_models_answered(as_: As, ada: User, runs: list[Run]) -> None:
    client, item = as_(ada), runs[0].dataset.items.order_by("id").first()
    listed = client.get(reverse("side_items"), {"dataset": runs[0].dataset_id, "premise_class": "identity"})
    assert reverse("item_sides", args=[item.pk]) in listed.content.decode()
    page = client.get(reverse("item_sides", args=[item.pk])).content.decode()
    for words in ("M0", "M2", "Answer 4 about cat.", "correction", "cooperation", "<mark>dog</mark>", "<ins>cat</ins>"):
        assert words in page
    chosen = [dialogue.pk for dialogue in order(runs)[:2]]
    answer = client.post(reverse("case_pin"), {"dialogue": chosen, "case": "", "name": "Cats"}, follow=True)
    assert "Pinned 2 dialogues to Cats." in answer.content.decode()
    assert list(PinnedDialogue.objects.values_list("dialogue_id", flat=True)) == chosen


def test_ada_pins_from_the_reader_arranges_and_takes_out(as_: As, ada: User, case: CaseStudy, runs: list[Run]) -> None:
    client, third = as_(ada), runs[2].dialogues.order_by("id").first()
    assert reverse("case_pin") in client.get(reverse("dialogue_detail", args=[third.pk])).content.decode()
    client.post(reverse("case_pin"), {"dialogue": third.pk, "case": case.pk, "name": ""})
    client.post(reverse("case_move", args=[case.pk]), {"dialogue": third.pk, "way": "left"})
    assert shown(case)[0][1] == ["M0", "M2", "M1"]
    client.post(reverse("case_unpin", args=[case.pk]), {"dialogue": third.pk})
    assert shown(case)[0][1] == ["M0", "M1"]
    assert client.post(reverse("case_move", args=[case.pk]), {"dialogue": third.pk, "way": "off"}).status_code == 400


def test_two_people_who_edit_a_note_lose_nothing(as_: As, ada: User, ben: User, case: CaseStudy) -> None:
    address = reverse("case_edit", args=[case.pk])
    as_(ben).post(address, {"name": "Fading", "note": "Ben's words", "version": 1})
    page = as_(ada).post(address, {"name": "Fading", "note": "Ada's words", "version": 1}).content.decode()
    assert "Ada's words" in page.replace("&#x27;", "'")
    assert "Ben's words" in page.replace("&#x27;", "'")
    assert as_(ada).post(address, {"name": "Fading", "note": "both", "version": 2}).status_code == 302
    assert CaseStudy.objects.get().note == "both"


def test_an_empty_case_study_can_be_made_and_deleted(as_: As, ada: User, runs: list[Run]) -> None:
    client = as_(ada)
    assert "No case study yet" in client.get(reverse("case_list")).content.decode()
    client.post(reverse("case_new"), {"dataset": runs[0].dataset_id, "name": "Empty"})
    made = CaseStudy.objects.get()
    assert "Nothing is pinned yet" in client.get(reverse("case_detail", args=[made.pk])).content.decode()
    client.post(reverse("case_delete", args=[made.pk]))
    assert not CaseStudy.objects.exists()


def test_rita_reads_and_takes_away_but_changes_nothing(as_: As, rita: User, case: CaseStudy, runs: list[Run]) -> None:
    client = as_(rita)
    page = client.get(reverse("case_detail", args=[case.pk]), {"turns": "false"}).content.decode()
    assert "Answer 8 about cat." in page
    assert "Answer 3 about cat." not in page
    assert "Take M0 out" not in page
    assert client.get(reverse("case_html", args=[case.pk])).status_code == 200
    pin = {"dialogue": order(runs)[0].pk, "case": case.pk}
    for name in ("case_move", "case_unpin", "case_delete", "case_edit"):
        assert client.post(reverse(name, args=[case.pk]), {**pin, "way": "left"}).status_code == 404
    assert client.post(reverse("case_pin"), pin).status_code == 404
    assert client.post(reverse("case_new"), {"dataset": case.dataset_id, "name": "x"}).status_code == 404
    assert shown(case)[0][1] == ["M0", "M1"]


READ = ("case_detail", "case_html", "case_markdown", "item_sides")


def reading(case: CaseStudy) -> list[str]:
    item = case.dataset.items.order_by("id").first()
    at = [reverse(name, args=[item.pk if name == "item_sides" else case.pk]) for name in READ]
    return [*at, f"{reverse('side_items')}?dataset={case.dataset_id}"]


def test_every_look_is_recorded(as_: As, rita: User, case: CaseStudy) -> None:
    for address in reading(case):
        assert as_(rita).get(address).status_code == 200
    assert Exposure.objects.filter(person=rita, dataset=case.dataset, withheld=False).count() == len(reading(case))


def test_who_labels_the_dataset_sees_no_case_study_of_it_and_changes_none(
    as_: As, ben: User, case: CaseStudy, runs: list[Run]
) -> None:
    factories.label_set(case.dataset, [ben])
    client = as_(ben)
    assert {client.get(address).status_code for address in [*reading(case), reverse("case_edit", args=[case.pk])]} == {
        403
    }
    listed = client.get(reverse("case_list")).content.decode()
    assert "it opens when your labels are locked" in listed
    assert "Fading" not in listed
    assert "See turn 8" not in listed
    pin = {"dialogue": order(runs)[0].pk, "case": case.pk, "way": "right", "name": "x", "version": 1}
    addresses = [reverse(name, args=[case.pk]) for name in ("case_move", "case_unpin", "case_delete", "case_edit")]
    addresses += [reverse("case_pin")]
    assert {client.post(address, pin).status_code for address in addresses} == {403}
    assert client.post(reverse("case_new"), {"dataset": case.dataset_id, "name": "x"}).status_code == 403
    assert case.pins.count() == 4


def test_who_only_labels_finds_nothing_and_a_stranger_signs_in_first(
    as_: As, lea: User, client: Client, case: CaseStudy
) -> None:
    addresses = [*reading(case), reverse("case_list")]
    assert {as_(lea).get(address).status_code for address in addresses} == {404}
    assert {client.get(address).status_code for address in addresses} == {302}


# What leaves ------------------------------------------------------------------------------------------


@pytest.fixture
def odd(case: CaseStudy, runs: list[Run], ada: User) -> CaseStudy:
    """With a model whose answers look like markup."""
    over = runs[0].dataset
    run = factories.run(dataset=over, model=factories.model("Odd <i>model</i>"))
    dialogue = run.dialogues.get(item=over.items.order_by("id").first())
    Response.objects.create(dialogue=dialogue, turn=1, text=ODD)
    service.pin(case=case, dialogues=[dialogue], by=ada)
    return case


def test_the_html_is_whole_and_models_text_is_text(as_: As, rita: User, odd: CaseStudy) -> None:
    answer = as_(rita).get(reverse("case_html", args=[odd.pk]))
    text = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "&lt;b&gt;No&lt;/b&gt;" in text
    assert "Odd &lt;i&gt;model&lt;/i&gt;" in text
    assert "<b>" not in text
    assert "<script" not in text
    assert re.findall(r'(?:src|href)="(?!data:|https?://creativecommons)[^"]*"', text) == []


def test_a_picture_is_in_an_export_only_where_its_licence_allows_it_and_is_credited_either_way(
    as_: As, rita: User, case: CaseStudy
) -> None:
    page = as_(rita).get(reverse("case_html", args=[case.pk])).content.decode()
    notes = as_(rita).get(reverse("case_markdown", args=[case.pk])).content.decode()
    assert page.count("data:image/jpeg;base64,") == 1
    assert notes.count("data:image/jpeg;base64,") == 1
    for text in (page, notes.replace("\\", "")):
        for words in ("A. Photographer", "CC0", "N. Derivatives", "CC BY-ND 2.0", "allows no derivatives: this export"):
            assert words in text


def test_the_markdown_says_the_same_with_everything_special_escaped(as_: As, rita: User, odd: CaseStudy) -> None:
    text = as_(rita).get(reverse("case_markdown", args=[odd.pk])).content.decode()
    assert r"> \<b\>No\</b\>, there is a \*cat\*." in text
    assert r"> 1\. see www\.x.example \[here\]\(javascript\:alert\(1\)\)" in text
    assert "the striped **dog** on the chair" in text
    assert "strict: correction (simulated); lenient: cooperation (simulated)" in text.replace("\\", "")


def test_an_export_is_the_same_twice(case: CaseStudy) -> None:
    first, again = (cases.groups(cases.pinned(case)) for _ in range(2))
    assert case_export.as_html(case, first) == case_export.as_html(case, again)
    assert case_export.as_markdown(case, first) == case_export.as_markdown(case, again)


def test_no_name_or_key_with_a_nul_reaches_the_database(ada: User, as_: As) -> None:
    run = factories.run(answered=1)
    client, dialogue = as_(ada), run.dialogues.get()
    asked = [
        (reverse("case_pin"), {"dialogue": dialogue.pk, "name": "A\0case"}),
        (reverse("case_new"), {"dataset": run.dataset_id, "name": "A\0case"}),
        (reverse("placing_undo"), {"item": "item\0"}),
        (reverse("variant_adopt"), {"parent": "item\0"}),
        (reverse("variant_checker_family", args=[factories.draft(factories.item()).job.drafter_id]), {"family": "F\0"}),
    ]
    for path, given in asked:
        assert client.post(path, given).status_code == 400, path
    assert not CaseStudy.objects.exists()
