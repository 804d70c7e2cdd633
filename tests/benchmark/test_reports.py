"""The report: what was chosen, built by a worker into one HTML and one PDF, the same bytes again."""

import re
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from benchmark import charts
from benchmark.models import Exposure, Report
from benchmark.reports import content, html, pdf
from benchmark.reports.choice import Choice, restored
from benchmark.services import analyses, building, reports, results, validation
from benchmark.tasks import build_reports
from fpco_site.errors import Conflict, Invalid, Withheld
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]
NASTY = '<script>alert("x")</script> & 模'


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over three dialogues, one of each class; two detectors that differ on some answers."""
    row = factories.dataset("Pilot", items=3)
    strict, lenient = factories.detector("strict"), factories.detector("lenient")
    for name in (NASTY, "Model C"):
        run = factories.run(dataset=row, model=factories.model(name), answered=10, state="complete")
        factories.detector_labels(strict, run, lambda response: response.turn >= 6)
        factories.detector_labels(lenient, run, lambda response: response.turn >= 9)
    return row


def request(over: Dataset, by: User, **chosen: object) -> Report:
    result_set = results.default(over)
    assert result_set is not None
    return reports.request(result_set=result_set, choice=Choice(**chosen), by=by)  # type: ignore[arg-type]


def test_a_reader_chooses_a_worker_builds_and_the_reader_takes_it_away(over: Dataset, rita: User, as_: As) -> None:
    client = as_(rita)
    page = client.get(reverse("report")).content.decode()
    assert 'value="corr-tp-by-class"' in page
    assert 'value="corr_tp" checked' in page
    assert 'value="lexical_sensitivity">' in page  # there are no variants, so it is not ticked
    asked = {"figure": ["corr-tp-by-class", "nonsense"], "table": ["corr_tp", "detector_agreement"], "settings": "on"}
    client.post(reverse("report_new", args=[over.pk]), asked)
    report = Report.objects.get()
    assert restored(report.choice) == Choice(
        figures=("corr-tp-by-class",), tables=("detector_agreement", "corr_tp"), settings=True, coverage=False
    )
    assert "waiting" in client.get(reverse("report"), headers={"HX-Request": "true"}).content.decode()
    build_reports()
    report.refresh_from_db()
    assert (report.state, report.error) == ("ready", "")
    assert report.html_sha256[:12] in client.get(reverse("report")).content.decode()
    for form in ("html", "pdf"):
        reply = client.get(reverse("report_file", args=[report.pk, form]))
        assert f'filename="report-pilot-{report.pk}.{form}"' in reply["Content-Disposition"]
        assert reports.path_of(report, form).read_bytes() == b"".join(reply)  # type: ignore[arg-type]


class Checked(HTMLParser):
    """Refuses what could load or run something, and gathers ids and text."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "use", "image", "foreignobject"}
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"src", "srcset", "style", "xlink:href"}
            assert name != "href" or (value or "").startswith("#")
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_and_pdf_tell_all_of_it_load_nothing_and_are_the_same_again(
    over: Dataset, ada: User, lea: User, lou: User
) -> None:
    from pypdf import PdfReader

    row = validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=1, seed=1)
    result_set = results.default(over)
    assert result_set is not None
    analysis = analyses.request(kind="self_scoring", result_set=result_set, by=ada)
    choice = Choice(
        figures=("corr-tp-by-class", "detector-disagreement"),
        tables=("pairwise_kappa", "detector_agreement", "corr_tp", "corr_fp"),
        sets=(row.pk,),
        analyses=(analysis.pk,),
    )
    made = content.document(result_set, choice)
    text, data = html.write(made), pdf.write(made)
    again = content.document(result_set, choice)
    assert (html.write(again), pdf.write(again)) == (text, data)
    page = Checked()
    page.feed(text)
    assert len(page.ids) == len(set(page.ids))
    assert NASTY in "".join(page.text)
    printed = "\n".join(sheet.extract_text() for sheet in PdfReader(BytesIO(data)).pages)
    for said in (
        over.dataset_hash,
        "Table 5: CorrTP@K",
        "H1",
        analysis.inputs_sha256,
        "Coverage",
        "simulated",
        "Table corr_tp.csv",
    ):
        assert said in "".join(page.text)
        assert said in re.sub(r"-?\n", "", printed) or said in printed


def test_what_cannot_be_made_says_why_in_its_place(over: Dataset) -> None:
    result_set = results.default(over)
    assert result_set is not None
    made = content.document(result_set, Choice(tables=("pairwise_kappa",), settings=False, coverage=False))
    part = next(chapter for chapter in made.chapters if chapter.title == "Tables").parts[0]
    assert part.table is None
    assert "There is no validation set" in part.gap
    assert part.gap in html.write(made)


def test_a_drawing_that_could_run_something_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for odd in ("<script/>", '<a href="x"/>', '<g onclick="x"/>', "<foreignObject/>"):
        svg = f'<svg xmlns="http://www.w3.org/2000/svg">{odd}</svg>'.encode()
        monkeypatch.setattr(charts, "render", lambda *_, svg=svg, **__: svg)
        with pytest.raises(ValueError, match="drawing holds"):
            html.drawing({}, "f1-")


def test_ids_of_drawings_keep_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><g id="c"/><g clip-path="url(#c)"/></svg>'
    monkeypatch.setattr(charts, "render", lambda *_, **__: svg)
    drawn = html.drawing({"description": "A <b> & c."}, "f2-")
    assert 'id="f2-c"' in drawn
    assert 'clip-path="url(#f2-c)"' in drawn
    assert 'aria-label="A &lt;b&gt; &amp; c."' in drawn


def test_an_empty_choice_is_refused(over: Dataset, rita: User) -> None:
    with pytest.raises(Invalid, match="Choose at least one"):
        request(over, rita)


def test_a_failure_is_kept_with_its_reason_and_can_be_tried_again(
    over: Dataset, rita: User, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = request(over, rita, tables=("corr_tp",))
    with monkeypatch.context() as broken:
        broken.setattr(pdf, "write", lambda _: (_ for _ in ()).throw(OSError("No space left on device")))
        reports.build_waiting()
    report.refresh_from_db()
    assert (report.state, "No space left" in report.error) == ("failed", True)
    as_(rita).post(reverse("report_again", args=[report.pk]))
    assert reports.build_waiting() == 1
    assert reports.build_waiting() == 0
    with pytest.raises(Conflict, match="built already"):
        reports.again(report=report)


def test_a_killed_workers_report_is_taken_up_again_and_its_own_late_files_do_not_count(
    over: Dataset, rita: User, as_: As, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = request(over, rita, tables=("corr_tp",))
    Report.objects.filter(pk=report.pk).update(state="building", worker="gone", beat=3, tries=1)
    assert reports.build_waiting() == 0  # it may be alive
    page = as_(rita).get(reverse("report")).content.decode()
    assert "Build again" not in page
    assert as_(rita).post(reverse("report_again", args=[report.pk])).status_code == 409
    settings.ENGINE = {**settings.ENGINE, "stale": 0.0}
    write = html.write

    def while_another_takes_it(document: content.Document) -> str:
        monkeypatch.setattr(html, "write", write)
        seen = Report.objects.get(pk=report.pk)
        reports._work.watch.seen[seen.pk] = (seen.worker, seen.beat, 0.0)
        assert reports.build_waiting() == 1
        return "late"

    monkeypatch.setattr(html, "write", while_another_takes_it)
    assert reports.build_waiting() == 1
    report.refresh_from_db()
    assert (report.state, report.tries, report.worker) == ("ready", 3, "")
    assert sha256(reports.path_of(report, "html").read_bytes()).hexdigest() == report.html_sha256
    Report.objects.filter(pk=report.pk).update(state="building", worker="gone", tries=building.TRIES)
    assert (reports.build_waiting(), reports.build_waiting()) == (0, 0)
    report.refresh_from_db()
    assert (report.state, report.error) == (
        "failed",
        "3 workers ended while they built it. Was there too little memory?",
    )


def test_the_page_tells_analyses_of_one_kind_apart_and_leads_to_older_reports(
    over: Dataset, ada: User, as_: As
) -> None:
    result_set = results.default(over)
    assert result_set is not None
    for loss in (5.0, 7.5):
        analyses.request(kind="persistence", result_set=result_set, parameters={"loss": loss}, by=ada)
    Report.objects.bulk_create(Report(result_set=result_set, state="ready") for _ in range(21))
    numbers = Report.objects.order_by("pk").values_list("pk", flat=True)
    oldest, newest = f"Report {numbers[0]}<", f"Report {numbers[20]}<"
    page = as_(ada).get(reverse("report")).content.decode()
    assert page.count("Points that count as a loss 7.5") == 1
    assert "Points that count as a loss 5" not in page
    assert (newest in page, oldest in page) == (True, False)
    assert oldest in as_(ada).get(reverse("report"), {"page": "2"}).content.decode()
    assert newest in as_(ada).get(reverse("report"), {"page": "x"}).content.decode()
    assert "Points that count as a loss 7.5" in as_(ada).get(reverse("analysis_list")).content.decode()


def test_a_second_click_asks_for_the_same_report(over: Dataset, rita: User) -> None:
    first = request(over, rita, tables=("corr_tp",))
    assert request(over, rita, tables=("corr_tp",)) == first
    assert request(over, rita, tables=("corr_fp",)) != first
    reports.build_waiting()
    assert request(over, rita, tables=("corr_tp",)) != first  # the data may be others by now


def test_who_labels_gets_no_report_that_tells_of_labels(over: Dataset, ada: User, ben: User, as_: As) -> None:
    row = validation.open(dataset=over, annotators=[ada], by=None, per_cell=1, seed=1)
    telling = request(over, ben, sets=(row.pk,), tables=("corr_tp",))
    plain = request(over, ada, tables=("corr_tp",))
    reports.build_waiting()
    client = as_(ada)
    assert client.get(reverse("report_file", args=[telling.pk, "html"])).status_code == 403
    assert client.get(reverse("report_file", args=[plain.pk, "pdf"])).status_code == 200
    assert as_(ben).get(reverse("report_file", args=[telling.pk, "html"])).status_code == 200
    for chosen in ({"sets": (row.pk,)}, {"tables": ("pairwise_kappa",)}):
        with pytest.raises(Withheld):
            request(over, ada, **chosen)
    assert Exposure.objects.filter(person=ada, withheld=True).count() == 3
    page = client.get(reverse("report")).content.decode()
    assert "Withheld while you label" in page
    assert reverse("report_file", args=[telling.pk, "html"]) not in page


def test_annotators_and_strangers_find_no_report(over: Dataset, lea: User, rita: User, as_: As) -> None:
    report = request(over, rita, tables=("corr_tp",))
    reports.build_waiting()
    pages = [reverse("report"), reverse("report_file", args=[report.pk, "html"])]
    for url in pages:
        assert as_(lea).get(url).status_code == 404
        assert Client().get(url).status_code == 302
    for url in (reverse("report_new", args=[over.pk]), reverse("report_again", args=[report.pk])):
        assert as_(lea).post(url).status_code == 404
        assert as_(rita).get(url).status_code == 405
    assert as_(rita).get(reverse("report_file", args=[report.pk, "tex"])).status_code == 404
    assert (
        "Nothing has run yet" in as_(rita).get(reverse("report"), {"dataset": factories.dataset().pk}).content.decode()
    )
