"""The agreement pages: the same numbers everywhere, the answers behind them, and who may see what."""

import csv
import json
import re
import uuid
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Adjudication, Dataset, User
from annotate.services import labels
from benchmark import frames_agreement, frames_detectors, printed
from benchmark.designs import Plan
from benchmark.models import DetectorLabel, Exposure, ResultSet, ValidationSet
from benchmark.services import results, validation
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over six dialogues; three detectors that differ on some answers."""
    row = factories.dataset(items=6)
    detectors = [factories.detector(slug, name=f"Judge {slug}") for slug in ("one", "two", "three")]
    for name in ("Model_A", "Model B"):
        run = factories.run(dataset=row, model=factories.model(name), answered=10, state="complete")
        for number, detector in enumerate(detectors, 1):
            factories.detector_labels(detector, run, lambda response, n=number: response.pk % (n + 2) > 0)
    results.default(row)
    return row


@pytest.fixture
def row(over: Dataset, lea: User, lou: User) -> ValidationSet:
    """Twelve answers that Lea and Lou labelled; they differ on four."""
    made = validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=2, seed=5)
    for number, item in enumerate(made.items.select_related("task").order_by("id")):
        for mine in made.label_set.assignments.all():
            detect = number % 2 == 0 if mine.person == lea else number % 3 == 0
            labels.record(
                assignment=mine,
                task=item.task,
                detect=detect,
                client=uuid.uuid4(),
                sequence=1,
                comment=f"note {number}",
            )
    return made


def closed(row: ValidationSet, by: User) -> ValidationSet:
    return validation.close(validation_set=row, by=by)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


# One frame, many writers ----------------------------------------------------------------------------


def test_page_csv_latex_and_api_print_the_same_kappas(row: ValidationSet, rita: User, as_: As) -> None:
    client = as_(rita)
    lines = table(client.get(reverse("agreement_table", args=[row.pk, "csv"])).text)
    tex = client.get(reverse("agreement_table", args=[row.pk, "tex"])).text
    page = client.get(reverse("agreement_set", args=[row.pk])).text
    api = client.get(f"/api/v1/validation-sets/{row.pk}/agreement/").json()
    told = {(cell["first"], cell["second"], cell["level"]): cell for cell in api}
    assert client.get(f"/api/v1/validation-sets/{row.pk}/table/").json()["rows"] == lines
    assert len(lines) == 10  # two people and three detectors
    for line in lines:
        for level in ("overall", "identity", "attribute", "location"):
            cell = told[line["first"], line["second"], level]
            assert line[f"{level}_n"] == str(cell["n"]) == "4" or level == "overall"
            for name in ("kappa", "low", "high"):
                number = cell["kappa" if name == "kappa" else f"kappa_{name}"]
                printed = "" if number is None else f"{number:.3f}"
                assert line[f"{level}_{name}"] == printed
                assert printed in tex
                assert printed in page
    assert {line["simulated"] for line in lines} == {"false", "true"}  # people are real here, rule detectors are not
    assert "Some of these labels are simulated." in tex
    assert "\\toprule" in tex
    assert "Overall (n = 12)" in tex


def test_page_csv_latex_and_api_print_the_same_table_of_detectors(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    lines = table(client.get(reverse("detector_table", args=[over.pk, "csv"])).text)
    tex = client.get(reverse("detector_table", args=[over.pk, "tex"])).text
    page = client.get(reverse("detector_agreement_of", args=[over.pk])).text
    api = client.get(f"/api/v1/detector-agreement/?dataset={over.pk}").json()[:4]
    assert [line["level"] for line in lines] == ["overall", "identity", "attribute", "location"]
    for line, cell in zip(lines, api, strict=True):
        assert (
            int(line["n"])
            == cell["n"]
            == int(line["both"]) + int(line["neither"]) + int(line["first_only"]) + int(line["second_only"])
        )
        for name in ("first_rate", "second_rate", "agreement", "kappa"):
            assert line[name] == f"{cell[name]:.3f}"
            assert line[name] in tex
            assert line[name] in page
    assert lines[0]["n"] == "84"  # two models, six dialogues, seven turns


def test_masks_and_labels_give_the_same_agreement_of_detectors(over: Dataset) -> None:
    """The table over all answers comes from patterns; counted from the labels themselves it is the same."""
    found = frames_detectors.verdicts(ResultSet.objects.get(dataset=over))
    cell = frames_detectors.pair(found, *found.detectors[:2]).levels["overall"]
    said: dict[str, dict[int, bool]] = {
        slug: dict(DetectorLabel.objects.filter(detector__slug=slug, turn__gte=4).values_list("response", "detect"))
        for slug in ("one", "two")
    }
    both = sum(said["one"][response] and said["two"][response] for response in said["one"])
    first = sum(said["one"][response] and not said["two"][response] for response in said["one"])
    assert (cell.both, cell.first_only, cell.n, cell.clusters) == (both, first, 84, 6)


@pytest.mark.parametrize("axis", ["premise_class", "complexity", "category", "model", "turn"])
def test_levels_of_every_axis_add_up_to_overall(row: ValidationSet, over: Dataset, axis: str) -> None:
    found, verdicts = frames_agreement.frame(row), frames_detectors.verdicts(row.result_set)
    rows = [frames_agreement.pair(found, *found.raters[:2], axis), *frames_detectors.pairs(verdicts, axis)[:1]]
    for pair in rows:
        overall, *levels = pair.levels.values()
        for name in ("n", "both", "first_only", "second_only", "neither"):
            assert getattr(overall, name) == sum(getattr(level, name) for level in levels)


def test_numbers_as_csv_say_undefined_by_an_empty_cell_and_a_reason(row: ValidationSet, rita: User, as_: As) -> None:
    client = as_(rita)
    rows = table(client.get(reverse("agreement_numbers", args=[row.pk, "pairs"]) + "?axis=turn").text)
    undefined = [line for line in rows if not line["kappa"]]
    assert undefined
    assert all("kappa: " in line["reasons"] and line["n"] for line in undefined)
    assert "nan" not in str(rows).lower()
    for what, column in (("groups", "alpha"), ("detectors", "sensitivity")):
        assert column in table(client.get(reverse("agreement_numbers", args=[row.pk, what])).text)[0]
    assert client.get(reverse("agreement_numbers", args=[row.pk, "others"])).status_code == 404
    assert client.get(reverse("agreement_table", args=[row.pk, "pdf"])).status_code == 404


def test_names_are_escaped_in_latex(over: Dataset) -> None:
    assert printed.tex("a_b & 50% \\x") == r"a\_b \& 50\% \textbackslash{}x"


def test_the_api_has_no_nan(row: ValidationSet, over: Dataset, rita: User, as_: As) -> None:
    paths = [f"/api/v1/validation-sets/{row.pk}/{part}/" for part in ("agreement", "groups", "detectors", "table")]
    for path in [*paths, "/api/v1/detector-agreement/"]:
        for axis in ("turn", "model"):
            reply = as_(rita).get(f"{path}?axis={axis}")
            assert reply.status_code == 200
            assert json.loads(reply.text, parse_constant=pytest.fail)


# Raters ---------------------------------------------------------------------------------------------


def test_every_detector_of_the_result_set_is_a_rater(row: ValidationSet) -> None:
    names = [rater.name for rater in frames_agreement.frame(row).raters]
    assert names == ["H1", "H2", "Judge one", "Judge two", "Judge three"]


def test_the_adjudicated_label_is_what_all_agree_on_or_what_was_decided(row: ValidationSet, ada: User) -> None:
    tasks = [item.task for item in row.items.select_related("task").order_by("id")]
    assert "adjudicated" not in frames_agreement.frame(row).by_key
    closed(row, ada)
    # They differ on 2, 3, 4, 8, 9, 10 (H1: even, H2: a multiple of three).
    for detect in (False, True):
        Adjudication.objects.create(task=tasks[3], detect=detect, reason="It says so.", decided_by=ada)
    Adjudication.objects.create(task=tasks[1], detect=True, reason="Against both.", decided_by=ada)
    decided = frames_agreement.frame(row).by_key["adjudicated"]
    assert decided.labels.tolist() == [1, 0, -1, 1, -1, 0, 1, 0, -1, -1, -1, 0]
    assert decided.given == 7


def test_a_closed_set_compares_the_decision_and_takes_it_as_the_truth(
    row: ValidationSet, ada: User, rita: User, as_: As
) -> None:
    closed(row, ada)
    page = as_(rita).get(reverse("agreement_set", args=[row.pk])).text
    assert "Detectors against Adjudicated" in page
    chosen = as_(rita).get(reverse("agreement_set", args=[row.pk]) + "?first=adjudicated&second=human-2&truth=human-1")
    assert chosen.context["page"].pair.first.name == "Adjudicated"
    assert "Detectors against H1" in chosen.text


def test_a_pool_has_no_kappa_of_two_people_and_says_why(row: ValidationSet, rita: User, as_: As) -> None:
    row.label_set.mode = "pool"
    row.label_set.save()
    page = as_(rita).get(reverse("agreement_set", args=[row.pk])).text
    assert "This set is a pool" in page
    found = frames_agreement.frame(row)
    people = frames_agreement.pair(found, *found.raters[:2]).levels["overall"]
    assert people.kappa.value is None
    assert "a pool" in people.kappa.reason
    assert people.agreement.value is not None
    assert [pair.first.kind for pair in frames_agreement.kappa_pairs(found)] == ["detector"] * 3
    (group, *_) = frames_agreement.groups(found)
    assert (group.name, group.wanted) == ("People of the pool", 2)
    assert frames_agreement.group_levels(found, group)["overall"].alpha.value is not None


def test_unequal_probabilities_are_said(row: ValidationSet, rita: User, as_: As) -> None:
    url = reverse("agreement_set", args=[row.pk])
    assert "unequal probabilities" not in as_(rita).get(url).text
    row.items.filter(pk=row.items.first().pk).update(inclusion_probability=0.01)
    page = as_(rita).get(url).text
    assert "unequal probabilities (0.01 to" in page
    assert "unweighted" in page


def test_answers_to_correct_premises_are_never_mixed_with_the_others(
    row: ValidationSet, over: Dataset, ada: User, rita: User, as_: As
) -> None:
    first = reverse("agreement_set", args=[row.pk])
    assert "premise=correct" not in as_(rita).get(first).text  # no such answer was drawn
    mixed = validation.open(dataset=over, annotators=[ada], by=None, plan=Plan(number=2, correct=3), seed=5)
    validation.close(validation_set=mixed, by=ada)
    url = reverse("agreement_set", args=[mixed.pk])
    false, correct = as_(rita).get(url), as_(rita).get(url + "?premise=correct")
    # Two models: two answers of each class, and three of each from turns 1-3.
    assert (false.context["page"].found.n, correct.context["page"].found.n) == (12, 6)
    assert "a correction is a needless one" in correct.text
    assert "a correction is a needless one" not in false.text
    pair = "first=detector-1&second=detector-2"
    answers = as_(rita).get(reverse("agreement_answers", args=[mixed.pk]) + f"?premise=correct&cell=shared&{pair}")
    assert answers.context["page_obj"].paginator.count == 6
    tex = as_(rita).get(reverse("agreement_table", args=[mixed.pk, "tex"]) + "?premise=correct")
    assert "turns with a correct premise" in tex.text
    assert "pairwise_kappa_correct.tex" in tex["Content-Disposition"]


# The answers behind a number ------------------------------------------------------------------------


def linked(page: str, cell: str, level: str) -> tuple[str, int]:
    """The address behind a cell of the pair's table, and the count it stands on."""
    for address, count in re.findall(r'href="([^"]+)">(\d+)[^<]*</a>', page):
        if f"level={level}" in address and f"cell={cell}" in address and "first=human-1" in address:
            return address.replace("&amp;", "&"), int(count)
    raise AssertionError(f"No link for {cell}, {level}.")


@pytest.mark.parametrize("cell", ["both", "first_only", "second_only", "neither", "differ", "shared"])
def test_a_number_leads_to_as_many_answers(row: ValidationSet, rita: User, as_: As, cell: str) -> None:
    client = as_(rita)
    page = client.get(reverse("agreement_set", args=[row.pk])).text
    address, count = linked(page, cell, "overall")
    reply = client.get(address)
    assert count > 0
    assert reply.context["page_obj"].paginator.count == count
    for answer in reply.context["answers"]:
        said = {each.name: each.label for each in answer.said}
        assert {
            "both": said["H1"] == said["H2"] == 1,
            "first_only": (said["H1"], said["H2"]) == (1, 0),
            "second_only": (said["H1"], said["H2"]) == (0, 1),
            "neither": said["H1"] == said["H2"] == 0,
            "differ": said["H1"] != said["H2"],
            "shared": True,
        }[cell]
        assert (
            f"{reverse('dialogue_detail', args=[answer.response.dialogue_id])}#turn-{answer.response.turn}"
            in reply.text
        )
    assert "note " in reply.text


def test_a_level_narrows_the_answers(row: ValidationSet, rita: User, as_: As) -> None:
    address = reverse("agreement_answers", args=[row.pk]) + "?axis=model&level=Model_A&cell=shared"
    answers = as_(rita).get(address).context["answers"]
    assert {answer.response.dialogue.run.model.name for answer in answers} == {"Model_A"}
    assert len(answers) == 6
    assert as_(rita).get(address.replace("Model_A", "nothing")).status_code == 404


def test_a_group_leads_to_what_it_differs_on(row: ValidationSet, rita: User, as_: As) -> None:
    found = frames_agreement.frame(row)
    for group in frames_agreement.groups(found):
        counted = frames_agreement.group_levels(found, group)["overall"]
        for cell, n in (("split", counted.split), ("same", counted.same)):
            reply = as_(rita).get(reverse("agreement_answers", args=[row.pk]) + f"?group={group.key}&cell={cell}")
            assert reply.context["page_obj"].paginator.count == n


def test_a_number_of_detectors_leads_to_as_many_answers(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    found = frames_detectors.verdicts(ResultSet.objects.get(dataset=over))
    first, second = found.detectors[:2]
    for axis, level in (("premise_class", "identity"), ("model", "Model B"), ("turn", "7")):
        cell = frames_detectors.pair(found, first, second, axis).levels[level]
        for name in ("both", "first_only", "second_only", "neither", "differ"):
            query = f"?first={first.key}&second={second.key}&axis={axis}&level={level}&cell={name}"
            reply = client.get(reverse("detector_answers", args=[over.pk]) + query)
            assert reply.context["page_obj"].paginator.count == getattr(cell, name)
            for answer in reply.context["answers"]:
                stored = dict(answer.response.labels.values_list("detector__name", "detect"))
                assert {each.name: bool(each.label) for each in answer.said} == stored


def test_looking_at_answers_is_recorded(row: ValidationSet, over: Dataset, rita: User, as_: As) -> None:
    as_(rita).get(reverse("agreement_answers", args=[row.pk]))
    as_(rita).get(reverse("detector_answers", args=[over.pk]))
    pages = list(Exposure.objects.filter(person=rita, dataset=over, withheld=False).values_list("page", flat=True))
    assert pages == ["answers behind an agreement", "answers behind detectors' agreement"]


# Who may see what -----------------------------------------------------------------------------------


def of_a_set(row: ValidationSet) -> list[str]:
    return [
        reverse("agreement_set", args=[row.pk]),
        reverse("agreement_answers", args=[row.pk]),
        reverse("agreement_numbers", args=[row.pk, "pairs"]),
        reverse("agreement_table", args=[row.pk, "csv"]),
        *(f"/api/v1/validation-sets/{row.pk}/{part}/" for part in ("agreement", "groups", "detectors", "table")),
    ]


def test_a_blind_author_gets_no_number_of_the_set_and_no_answer(
    row: ValidationSet, over: Dataset, ada: User, as_: As
) -> None:
    factories.label_set(over, [ada])
    for url in [*of_a_set(row), reverse("detector_answers", args=[over.pk])]:
        reply = as_(ada).get(url)
        assert (url, reply.status_code) == (url, 403)
        assert "Answer " not in reply.text
    assert Exposure.objects.filter(person=ada, withheld=True).count() == 9
    page = as_(ada).get(reverse("detector_agreement_of", args=[over.pk]))
    assert page.status_code == 200
    assert reverse("detector_answers", args=[over.pk]) not in page.text


def test_the_pages_do_not_exist_for_annotators_and_strangers(
    row: ValidationSet, over: Dataset, lea: User, as_: As
) -> None:
    of_detectors = [
        reverse("detector_agreement"),
        reverse("detector_agreement_of", args=[over.pk]),
        reverse("detector_answers", args=[over.pk]),
        reverse("detector_numbers", args=[over.pk]),
        reverse("detector_table", args=[over.pk, "csv"]),
        "/api/v1/detector-agreement/",
    ]
    for url in [*of_a_set(row), *of_detectors]:
        assert (url, as_(lea).get(url).status_code) == (url, 404)
        assert Client().get(url).status_code in {302, 401, 403}


def test_pages_take_few_queries(
    row: ValidationSet, over: Dataset, ada: User, rita: User, as_: As, django_assert_max_num_queries: Any
) -> None:
    closed(row, ada)
    for url in (
        reverse("agreement_set", args=[row.pk]) + "?axis=model",
        reverse("agreement_answers", args=[row.pk]) + "?cell=shared",
        reverse("detector_agreement_of", args=[over.pk]) + "?axis=model",
        reverse("detector_answers", args=[over.pk]) + "?cell=shared",
    ):
        client = as_(rita)
        client.get(url)  # the first look rebuilds the patterns of runs whose labels changed
        with django_assert_max_num_queries(30):
            assert client.get(url).status_code == 200


def test_without_detectors_the_page_says_what_is_missing(rita: User, as_: As) -> None:
    assert "No pair of detectors yet" in as_(rita).get(reverse("detector_agreement")).text
