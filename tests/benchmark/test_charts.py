"""Charts: what they show, in words too, and the same bytes every time."""

import io
import json
import subprocess
import sys
from itertools import pairwise

import pytest
from PIL import Image
from pypdf import PdfReader

from benchmark.charts import (
    DARK,
    LIGHT,
    OKABE_ITO,
    bars_by_class,
    cell_map,
    curves_by_k,
    heat_map,
    lines_by_class,
    paper,
    render,
    slopes,
)
from benchmark.charts.look import NEUTRAL
from benchmark.charts.parts import spread


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


MANY = [row(model=f"M{n}", family="AB"[n % 2]) for n in range(8)]


def test_many_models_are_coloured_by_family():
    spec = curves_by_k(MANY)
    (line,) = spec["spec"]["layer"]
    assert line["encoding"]["color"]["scale"]["domain"] == ["A", "B"]
    assert [datum["key"] for datum in spec["data"]["values"]] == list("ABABABAB")


def test_of_many_models_the_pinned_stand_out_and_the_others_are_grey():
    spec = curves_by_k(MANY, pinned={"M3": "#D55E00"})
    (line,) = spec["spec"]["layer"]
    assert line["encoding"]["color"]["scale"] == {"domain": ["M3", "other models"], "range": ["#D55E00", NEUTRAL]}
    assert [datum["key"] for datum in spec["data"]["values"]].count("other models") == 7


def test_a_pinned_colour_stays_with_its_model_and_nobody_else_gets_it():
    def colours(models):
        scale = curves_by_k([row(model=name) for name in models], pinned={"C": "#0072B2"})["spec"]["layer"][1]
        return dict(zip(*(scale["encoding"]["color"]["scale"][key] for key in ("domain", "range")), strict=True))

    for models in ("ABC", "CA", "DCEFGHI"):
        found = colours(models)
        assert found["C"] == "#0072B2"
        assert len(set(found.values())) == len(models)


def test_no_line_is_told_by_colour_alone():
    encoding = curves_by_k(CURVES)["spec"]["layer"][1]["encoding"]
    for channel in ("shape", "strokeDash"):
        assert len({str(value) for value in encoding[channel]["scale"]["range"]}) == 2


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


SLOPES = [
    {**row(model=model, value=value), "turn": turn}
    for model, ends in {"A": (0.8, 0.5), "B": (0.3, 0.32), "C": (0.8, 0.51)}.items()
    for turn, value in zip((4, 10), ends, strict=True)
]
CELLS = [
    {**row(value=0.5), "category": category, "complexity": complexity, "premise_class": name}
    for category in ("Person", "Food")
    for complexity in ("Single", "Multiple")
    for name in ("Identity", "Location")
]
MAP = {"classes": ["Identity", "Location"], "categories": ["Person", "Food"], "complexities": ["Single", "Multiple"]}


def test_a_slope_is_named_with_its_change_in_points_and_names_stand_apart():
    spec = slopes(SLOPES)
    picture = render(spec, "svg").decode()
    for label in ("A  \u221230.0", "B  +2.0", "C  \u221229.0"):
        assert label in picture
    places = sorted({datum["label_at"] for datum in spec["data"]["values"]})
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert min(b - a for a, b in pairwise(places)) / (high - low) * spec["height"] >= 10
    assert "A: 0.800 to 0.500, \u221230.0 points." in spec["description"]


def test_a_model_without_a_rate_at_one_end_has_no_slope():
    spec = slopes([*SLOPES, {**row(model="D", value=None, n=0), "turn": 4}, {**row(model="D"), "turn": 10}])
    assert {datum["model"] for datum in spec["data"]["values"]} == {"A", "B", "C"}
    assert slopes([])["description"] == "TurnCorr: no model has a rate at both turns."


def test_labels_move_apart_as_little_as_they_must():
    assert spread([0.5, 0.5, 0.9], 0.1) == [0.45, 0.55, 0.9]
    assert spread([0.0, 0.05, 0.1], 0.1) == [-0.05, 0.05, 0.15]
    assert spread([], 0.1) == []


def test_a_cell_map_letters_each_cell_and_has_a_row_for_each_of_several_models():
    assert render(cell_map(CELLS, metric="CorrTP@10", **MAP), "svg").decode().count("0.50</text>") == 8
    two = cell_map([*CELLS, *({**cell, "model": "Model B"} for cell in CELLS)], metric="CorrTP@10", **MAP)
    assert two["facet"]["row"]["sort"] == ["Model A", "Model B"]
    empty = cell_map([{**cell, "value": None, "n": 0} for cell in CELLS], metric="CorrTP@10", **MAP)
    assert "Model A, Identity: undefined." in empty["description"]
    assert render(empty, "svg").decode().count('aria-roledescription="rect mark"') == 8


def test_small_multiples_have_a_panel_a_model_and_a_style_a_class():
    spec = lines_by_class(CURVES, x="k", x_title="Turn", metric="TurnCorr")
    assert spec["facet"]["sort"] == ["Model A", "Model B"]
    one, other = (lines_by_class(rows, x="k", x_title="Turn", metric="TurnCorr") for rows in (CURVES, CURVES[3:]))
    assert one["spec"]["layer"][1]["encoding"]["color"] == other["spec"]["layer"][1]["encoding"]["color"]


@pytest.mark.parametrize(("width", "millimetres"), [("single", 84), ("double", 174)])
def test_a_figure_for_the_paper_is_as_wide_as_the_column_with_the_same_bytes_each_time(width, millimetres):
    spec = curves_by_k(CURVES)
    svg, png, pdf = (paper.figure(spec, form, width) for form in ("svg", "png", "pdf"))
    assert f'width="{millimetres}mm"' in svg.decode()
    picture = Image.open(io.BytesIO(png))
    assert abs(picture.width / picture.info["dpi"][0] * 25.4 - millimetres) < 0.3
    assert picture.getpixel((0, 0)) == (255, 255, 255, 255)
    assert abs(float(PdfReader(io.BytesIO(pdf)).pages[0].mediabox.width) / 72 * 25.4 - millimetres) < 0.3
    again = [paper.figure(curves_by_k(CURVES), form, width) for form in ("svg", "png", "pdf")]
    assert again == [svg, png, pdf]


def test_type_in_the_paper_is_not_shrunk_by_more_than_a_hair():
    svg = paper.figure(curves_by_k(CURVES), "svg", "double").decode()
    natural = float(svg.split('viewBox="0 0 ')[1].split()[0])
    assert abs(natural / (174 / 25.4 * 96) - 1) < 0.01


def test_an_unknown_width_or_form_is_refused():
    with pytest.raises(ValueError, match="single or double column wide, not 'triple'"):
        paper.figure(curves_by_k(CURVES), "svg", "triple")
    with pytest.raises(ValueError, match="svg, png, pdf, not as 'gif'"):
        paper.figure(curves_by_k(CURVES), "gif", "single")


def test_half_transparent_bands_have_their_own_colour_in_a_png():
    picture = Image.open(io.BytesIO(render(curves_by_k([row(k=4), row(k=10)]), "png"))).convert("RGB")
    blue = (0x00, 0x72, 0xB2)
    assert tuple(round(255 - 0.15 * (255 - part)) for part in blue) in picture.get_flattened_data()
