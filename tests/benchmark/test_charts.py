"""Charts: what they show, in words too, and the same bytes every time."""

import json
import subprocess
import sys

import pytest

from benchmark.charts import DARK, LIGHT, OKABE_ITO, bars_by_class, curves_by_k, heat_map, render


def row(model="Model A", family="A", premise_class="identity", k=4, value=0.5, **more):
    return {
        "model": model,
        "family": family,
        "premise_class": premise_class,
        "k": k,
        "value": value,
        "low": None if value is None else value - 0.05,
        "high": None if value is None else value + 0.05,
        "n": 360,
    } | more


CURVES = [
    row(model=model, family=family, premise_class=premise_class, k=k, value=0.9 - k / 20)
    for model, family in (("Model A", "A"), ("Model B", "B"))
    for premise_class in ("location", "overall", "identity")
    for k in (4, 5, 10)
]
BARS = [r for r in CURVES if r["k"] == 10]


@pytest.mark.parametrize("figure", [lambda: curves_by_k(CURVES, look=DARK), lambda: bars_by_class(BARS)])
def test_a_chart_is_drawn_in_every_format_with_the_same_bytes_each_time(figure):
    spec = figure()
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        first = render(spec, form)
        assert first.startswith(start)
        assert all(render(spec, form) == first for _ in range(3))


def test_another_process_draws_the_same_pdf(tmp_path):
    (tmp_path / "spec.json").write_text(json.dumps(curves_by_k(CURVES)))
    code = (
        "import json, sys; from benchmark.charts.rendering import render;"
        "sys.stdout.buffer.write(render(json.load(open(sys.argv[1])), 'pdf'))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "spec.json")], capture_output=True, check=True, timeout=120
    )
    assert other.stdout == render(curves_by_k(CURVES), "pdf")


def test_the_picture_names_models_classes_and_metric():
    svg = render(curves_by_k(CURVES, metric="TurnCorr@K", title="By turn"), "svg").decode()
    for word in ("Model A", "Model B", "Overall", "Identity", "Location", "TurnCorr@K", "By turn"):
        assert word in svg
    assert "Attribute" not in svg


def test_classes_come_in_the_studys_order_and_models_in_the_order_of_the_rows():
    assert curves_by_k(CURVES)["facet"]["sort"] == ["Overall", "Identity", "Location"]
    assert bars_by_class(BARS[::-1])["encoding"]["y"]["sort"] == ["Model B", "Model A"]


def test_few_models_have_a_colour_and_shape_each_and_a_band():
    spec = curves_by_k(CURVES)
    band, line = spec["spec"]["layer"]
    assert band["mark"]["type"] == "area"
    assert line["encoding"]["color"]["scale"] == {"domain": ["Model A", "Model B"], "range": list(OKABE_ITO[:2])}
    assert line["encoding"]["shape"]["scale"]["range"] == ["circle", "square"]


def test_many_models_are_coloured_by_family():
    spec = curves_by_k([row(model=f"M{n}", family="AB"[n % 2]) for n in range(8)])
    (line,) = spec["spec"]["layer"]
    assert line["encoding"]["color"]["field"] == "family"
    assert line["encoding"]["color"]["scale"]["domain"] == ["A", "B"]


def test_the_description_gives_the_figures_with_their_n():
    words = curves_by_k([row(k=4, value=0.25), row(k=10, value=0.125, n=2520)])["description"]
    assert "Model A, Identity: 0.250 at K = 4 (n = 360) to 0.125 at K = 10 (n = 2,520)." in words
    assert bars_by_class([row(value=0.5)])["description"].startswith("CorrTP@10 of 1 model by premise class.")


def test_an_undefined_rate_is_said_and_not_drawn_as_zero():
    rows = [row(k=4, value=None, n=0), row(k=5, value=0.5)]
    spec = curves_by_k(rows)
    assert "undefined at K = 4 (n = 0)" in spec["description"]
    assert spec["data"]["values"][0]["value"] is None
    drawn = render(spec, "svg").decode()
    assert drawn.count('aria-roledescription="point"') == 1


def test_no_rows_make_an_empty_chart_that_says_so():
    assert curves_by_k([])["description"] == "CorrTP@K: no results yet."
    assert render(bars_by_class([]), "svg").startswith(b"<svg")


def test_the_background_is_transparent_and_words_take_the_looks_colour():
    for look in (LIGHT, DARK):
        spec = curves_by_k(CURVES, look=look)
        assert spec["background"] == "transparent"
        assert look.text in render(spec, "svg").decode()


def test_a_models_name_is_text():
    svg = render(bars_by_class([row(model="<script>alert(1)</script>")]), "svg").decode()
    assert "<script>" not in svg
    assert "&lt;script&gt;" in svg


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="svg, png, pdf, not as 'gif'"):
        render(curves_by_k(CURVES), "gif")


def pair(first="H1", second="H2", value=0.859, n=360, reason=""):
    return {"first": first, "second": second, "value": value, "n": n, "reason": reason}


def test_a_heat_map_letters_each_square_and_says_undefined():
    spec = heat_map([pair(), pair("H2", "H1"), pair("H1", "gpt", None, 0, "no label")], ["H1", "H2", "gpt"])
    picture = render(spec, "svg").decode()
    assert picture.count("0.859") >= 2
    assert "undefined" in picture
    assert "H1 and H2: 0.859 (n = 360)." in spec["description"]
    assert "H2 and H1" not in spec["description"]
    assert "H1 and gpt: undefined (n = 0)." in spec["description"]


def test_a_heat_map_without_pairs_says_so():
    assert heat_map([], [])["description"] == "Cohen's kappa: no pair of raters yet."
