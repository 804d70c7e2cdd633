"""The study's tables: one object, many writers; on the page and as files, to those who may read them."""

import csv
import re
from collections.abc import Callable
from html import unescape
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.models.protocols import STUDY
from annotate.services import labels as label_sets
from benchmark.models import Exposure, Response
from benchmark.printed import PART, Printed, md, tex
from benchmark.services import analyses, results, validation
from benchmark.study_tables import ENTRIES
from tests import factories

As = Callable[[User], Client]
FORMS = ("csv", "tex", "md")
NOT_HERE = {"pairwise_kappa", "lexical_sensitivity"}  # for want of people's labels and of variants


def printed(rows: int = 3, **more: object) -> Printed:
    cells = [[f"Model {number // 2}", str(number % 2), "0.500", "–"] for number in range(rows)]
    table = [dict(zip(("model", "k", "a", "b"), row, strict=True)) for row in cells]
    given = {"groups": [("", 2), ("Overall", 2)], "words": 1, "by_first": True, **more}
    return Printed("made", "A table, 50 %.", table, ["Model", "K", "one_two", "Avg"], cells, **given)


# Writers --------------------------------------------------------------------------------------------


def test_latex_is_a_tabular_whose_rows_have_its_columns() -> None:
    text = printed().latex
    assert text.splitlines()[0] == r"% made: needs \usepackage{booktabs}"
    assert r"\begin{tabular}{lrrr}" in text
    assert r"\multicolumn{2}{c}{Overall}" in text
    assert r"\cmidrule(lr){3-4}" in text
    assert r"Model & K & one\_two & Avg \\" in text
    assert text.count("Model 0") == 1  # the second row of a model leaves its name to the first
    assert well_formed(text) == 4


def well_formed(text: str) -> int:
    """Columns of a table all of whose rows have as many, whose braces pair and whose environments end."""
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")
    begun, ended = re.findall(r"\\begin\{(\S+?)\}", text), re.findall(r"\\end\{(\S+?)\}", text)
    assert sorted(begun) == sorted(ended)
    columns = {len(spec) for spec in re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)}
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    spans = [
        sum(int(found) for found in re.findall(r"\\multicolumn\{(\d+)\}", row))
        + len([cell for cell in re.split(r"(?<!\\)&", row) if "multicolumn" not in cell])
        for row in rows
    ]
    assert len(rows) > 1
    assert {*spans} == columns
    return columns.pop()


def test_a_long_table_goes_on_in_another_and_never_within_a_model() -> None:
    text = printed(rows=PART + 2).latex
    assert text.count(r"\begin{tabular}") == 2
    assert "(1 of 2)" in text
    assert "(2 of 2)" in text
    assert well_formed(text) == 4
    first, second = text.split("(2 of 2)")
    assert (first.count(r"& 0.500 &"), second.count(r"& 0.500 &")) == (PART, 2)


def test_latex_prints_any_sign_and_starts_no_row_with_an_argument() -> None:
    assert tex(r"a_b & 50% \x") == r"a\_b \& 50\% \textbackslash{}x"
    assert tex("模 <é>\n“x” {~}") == r"U+6A21 \textless{}é\textgreater{} U+201Cx''".replace("x''", "xU+201D") + (
        r" \{\textasciitilde{}\}"
    )
    odd = Printed("odd", "Odd.", [{"a": "x"}], ["a", "b"], [["[x] y", "1"], ["*", "2"]])
    assert r"    {[}x] y & 1 \\" in odd.latex
    assert r"    {*} & 2 \\" in odd.latex


def test_markdown_has_a_rule_under_its_heads_and_no_marks_of_its_cells() -> None:
    lines = printed(notes=["n: 3."]).markdown.splitlines()
    assert lines[0] == "**A table, 50 %.**"
    assert lines[2:5] == [
        "| Model | K | Overall one\\_two | Overall Avg |",
        "| :--- | ---: | ---: | ---: |",
        "| Model 0 | 0 | 0.500 | – |",
    ]
    assert lines[-1] == "n: 3."
    assert md("[a](b) | <i> *x* `y` &lt;") == r"[a]\(b) \| \<i\> \*x\* \`y\` \&lt;"


def test_csv_is_the_rows_and_an_empty_table_is_an_empty_text() -> None:
    assert list(csv.DictReader(StringIO(printed().csv)))[1] == {"model": "Model 0", "k": "1", "a": "0.500", "b": "–"}
    assert Printed("none", "None.", [], ["a"], []).csv == ""


# The page and its files -----------------------------------------------------------------------------


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over three dialogues, one of each class; two detectors that differ on some answers."""
    row = factories.dataset("Pilot", items=3)
    strict, lenient = factories.detector("strict"), factories.detector("lenient")

    def late(response: Response) -> bool:
        return response.turn >= 6

    for name in ("Model_A & B", "Model C"):
        run = factories.run(dataset=row, model=factories.model(name), answered=10, state="complete")
        factories.detector_labels(strict, run, late)
        factories.detector_labels(lenient, run, lambda response: response.turn >= 9)
    return row


def get(client: Client, over: Dataset, slug: str, form: str, **query: str) -> str:
    reply = client.get(reverse("results_table", args=[over.pk, slug, form]), query)
    assert reply.status_code == 200
    assert f'filename="{slug}.{form}"' in reply["Content-Disposition"]
    return reply.content.decode()


@pytest.mark.parametrize("slug", ["corr_tp", "turn_corr", "corr_fp"])
def test_page_csv_latex_and_markdown_print_the_same_rates(over: Dataset, rita: User, as_: As, slug: str) -> None:
    client = as_(rita)
    lines = list(csv.DictReader(StringIO(get(client, over, slug, "csv"))))
    page = client.get(reverse("tables"), {"dataset": over.pk, "table": slug}).content.decode()
    body = page[page.index('<table class="data printed">') : page.index("</table>")]
    rates = [value for line in lines for name, value in line.items() if name not in ("model", "k")]
    assert len(rates) == 2 * (3 if slug == "corr_fp" else 7) * 12
    assert re.findall(r">(\d\.\d{3})</(?:a|td)>", body) == rates
    assert re.findall(r"\d\.\d{3}", get(client, over, slug, "md")) == rates
    latex = get(client, over, slug, "tex")
    assert re.findall(r"\d\.\d{3}", latex) == rates
    assert well_formed(latex) == 14
    assert r"Model\_A \& B" in latex
    assert "Simulated, not from a real model or detector" in page
    assert "n: one answer" in page


def test_the_published_rounding_is_a_choice_of_page_and_files(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    page = client.get(reverse("tables"), {"dataset": over.pk, "rounding": "published"}).content.decode()
    assert "mean of the two printed cells" in page
    assert "corr_tp.tex?rounding=published" in page
    assert "mean of the two printed cells" in get(client, over, "corr_tp", "md", rounding="published")
    assert "exact mean" in get(client, over, "corr_tp", "md")


def test_detectors_are_compared_by_class(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    lines = list(csv.DictReader(StringIO(get(client, over, "detector_agreement", "csv"))))
    # Of 42 answers to turns 4 to 10 both see 12 corrections (turns 9 and 10), strict 18 more (turns 6 to 8).
    assert lines[0] | {"both": "12", "first_only": "18", "second_only": "0", "neither": "12"} == lines[0]
    assert (lines[0]["agreement"], lines[0]["kappa"]) == ("0.571", "0.276")
    for form in FORMS:
        assert "0.276" in get(client, over, "detector_agreement", form)
    assert "0.276" in client.get(reverse("tables"), {"table": "detector_agreement"}).content.decode()


def test_variants_give_the_table_of_words_and_a_stored_analysis_tells_the_same(ada: User, as_: As) -> None:
    over = factories.dataset("Lexical", items=0, protocol={**STUDY, "turns": 4, "false_turns": [4]})
    for cat in ("cat", "dog"):
        for name in ("identity", "attribute", "location"):
            for letter in "AB":
                factories.dataset_item(
                    over, premise_class=name, parent=cat, variant=letter, key=f"{cat}-{name}-{letter}"
                )
    factories.dataset_item(over, premise_class="location", parent="owl", variant="A", key="owl-location-A")  # no other
    run = factories.run(dataset=over, model=factories.model("One"), answered=4, state="complete", simulated=False)
    corrected = {"identity-A", "identity-B", "attribute-A"}

    def said(response: Response) -> bool:
        return response.turn == 4 and response.dialogue.item.key.partition("-")[2] in corrected

    for slug in ("strict", "lenient"):
        factories.detector_labels(factories.detector(slug), run, said)
    line = next(csv.DictReader(StringIO(get(as_(ada), over, "lexical_sensitivity", "csv"))))
    assert [line[f"{name}_{key}"] for name in ("identity", "attribute", "location") for key in ("a", "b", "both")] == [
        *("1.000", "1.000", "1.000"),
        *("1.000", "0.000", "0.500"),
        *("0.000", "0.000", "0.000"),
    ]
    result_set = results.default(over)
    assert result_set is not None
    stored = analyses.request(kind="lexical", result_set=result_set, by=ada).result
    assert stored is not None
    assert line["share"] == f"{stored['models'][0]['share']:.3f}"
    assert line["holds"] == "yes"
    latex = get(as_(ada), over, "lexical_sensitivity", "tex")
    assert well_formed(latex) == 11
    assert "holds strictly for 1 of 1 models" in latex
    page = as_(ada).get(reverse("tables"), {"table": "lexical_sensitivity"}).content.decode()
    assert "Mean over models" in page
    check_cells_of_words(as_(ada), page, line)
    lines = list(csv.DictReader(StringIO(get(as_(ada), over, "corr_tp", "csv"))))
    assert {row["k"] for row in lines} == {"4"}


def check_cells_of_words(client: Client, page: str, line: dict[str, str]) -> None:
    """Each rate of a model leads to the dialogues of just those variants, its share to all of them."""
    links = [unescape(link) for link in re.findall(rf'href="({reverse("results_cell")}[^"]+)"', page)]
    assert len(links) == 10
    numbers = [client.get(link).context["number"] for link in links]
    keys = [f"{name}_{key}" for name in ("identity", "attribute", "location") for key in ("a", "b", "both")]
    for key, number in zip(keys, numbers, strict=False):
        assert (f"{number.estimate.value:.3f}", str(number.estimate.n)) == (line[key], line[f"{key}_n"])
        assert number.n == number.estimate.n
    assert numbers[-1].estimate.n == 12
    assert "variants A and B" in client.get(links[-1]).content.decode()
    for odd in ("C", "a", "A&variant=%00", "\N{SUPERSCRIPT ONE}"):
        assert client.get(f"{links[0]}&variant={odd}").status_code == 404


def test_people_are_compared_from_the_set_that_is_chosen(
    over: Dataset, rita: User, lea: User, lou: User, as_: As
) -> None:
    page = as_(rita).get(reverse("tables"), {"table": "pairwise_kappa"}).content.decode()
    assert "none has been drawn" in page
    first, second = (
        validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=1, seed=seed, name=f"Set {seed}")
        for seed in (1, 2)
    )
    page = as_(rita).get(reverse("tables"), {"table": "pairwise_kappa", "set": first.pk}).content.decode()
    assert f"pairwise_kappa.tex?set={first.pk}" in page
    assert f"set={second.pk}" in page
    assert "H1 – H2" in page
    assert "Labelling goes on" in page
    for form in FORMS:
        assert "H1" in get(as_(rita), over, "pairwise_kappa", form, set=str(first.pk))


@pytest.mark.parametrize("slug", ["corr_tp", "turn_corr", "corr_fp", "detector_agreement", "pairwise_kappa"])
def test_every_number_leads_to_the_answers_behind_it(
    slug: str, over: Dataset, rita: User, lea: User, lou: User, as_: As
) -> None:
    row = validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=1, seed=1)
    label_sets.close(label_set=row.label_set, by=None)
    client = as_(rita)
    page = client.get(reverse("tables"), {"table": slug}).content.decode()
    found = re.findall(r'<td class="num[^"]*"><a href="([^"]+)">([^<]+)</a>', page)
    assert found
    of_none = re.findall(r'<td class="num[^"]*">(?:\d{1,2}|–)</td>', page)  # K, and what is undefined
    assert page.count('<td class="num') == len(found) + len(of_none)
    for link, _ in found[:3] + found[-3:]:
        assert client.get(unescape(link)).status_code == 200, link


def test_a_correction_rate_leads_to_as_many_answers_as_it_counts(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    page = client.get(reverse("tables"), {"table": "detector_agreement"}).content.decode()
    link, both = re.findall(r'<a href="([^"]+cell=both)">([^<]+)</a>', page)[0]
    assert f"{both} answer" in client.get(unescape(link)).content.decode()


def test_who_labels_finds_no_way_to_answers_in_a_table(over: Dataset, ada: User, lou: User, as_: As) -> None:
    validation.open(dataset=over, annotators=[ada, lou], by=None, per_cell=1, seed=1)
    page = as_(ada).get(reverse("tables"), {"table": "corr_tp"}).content.decode()
    assert '<td class="num' in page
    assert '<td class="num"><a' not in page


def test_who_labels_sees_every_table_but_the_one_of_people(over: Dataset, ada: User, lou: User, as_: As) -> None:
    validation.open(dataset=over, annotators=[ada, lou], by=None, per_cell=1, seed=1)
    client = as_(ada)
    page = client.get(reverse("tables"), {"table": "pairwise_kappa"})
    assert "can&#x27;t be made" in page.content.decode() or "can't be made" in page.content.decode()
    assert "H1" not in page.content.decode()
    assert client.get(reverse("results_table", args=[over.pk, "pairwise_kappa", "csv"])).status_code == 403
    assert Exposure.objects.filter(person=ada, withheld=True).count() == 2
    assert client.get(reverse("results_table", args=[over.pk, "corr_tp", "md"])).status_code == 200


def test_the_page_says_why_there_is_no_table(rita: User, as_: As) -> None:
    assert "Nothing has run yet" in as_(rita).get(reverse("tables")).content.decode()
    factories.run(answered=10, state="complete")
    for slug, reason in (("corr_tp", "No detector has been asked"), ("detector_agreement", "Two detectors are needed")):
        page = as_(rita).get(reverse("tables"), {"table": slug}).content.decode()
        assert reason in page
        assert "/tables/" in page


def test_strangers_and_annotators_find_no_table_and_nobody_an_unknown_one(
    over: Dataset, rita: User, lea: User, as_: As
) -> None:
    file = reverse("results_table", args=[over.pk, "corr_tp", "tex"])
    for url in (reverse("tables"), file):
        assert as_(lea).get(url).status_code == 404
        assert Client().get(url).status_code == 302
    for slug, form in (("corr_xx", "csv"), ("corr_tp", "pdf")):
        assert as_(rita).get(reverse("results_table", args=[over.pk, slug, form])).status_code == 404


# The command ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_command_writes_every_table_the_same_bytes_again(
    over: Dataset, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("once", "again"):
        call_command("export_tables", str(tmp_path / name), dataset="Pilot", format=form)
    written = sorted(path.name for path in (tmp_path / "once").iterdir())
    assert written == sorted(["coverage.csv", *(f"{slug}.{form}" for slug in ENTRIES if slug not in NOT_HERE)])
    for name in written:
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    told = capsys.readouterr().out
    assert "Table 2 (Human validation) can't be made" in told
    assert "Table 3 (Lexical sensitivity) can't be made: Pilot holds no variants" in told


def test_the_command_tells_labels_of_people_only_when_they_are_final(
    over: Dataset, tmp_path: Path, lea: User, lou: User, ada: User
) -> None:
    row = validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=1, seed=1)
    call_command("export_tables", str(tmp_path), dataset="Pilot")
    assert not (tmp_path / "pairwise_kappa.csv").exists()
    validation.close(validation_set=row, by=ada)
    call_command("export_tables", str(tmp_path), dataset="Pilot")
    assert (tmp_path / "pairwise_kappa.csv").read_text().startswith("first,second")


def test_the_command_refuses_a_folder_it_can_t_write(over: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="can't be written"):
        call_command("export_tables", str(tmp_path / "file"), dataset="Pilot")
