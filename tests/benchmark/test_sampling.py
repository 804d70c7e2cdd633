"""A stratified draw: the same for the same seed, fair, and honest about what is missing."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.sampling import Cell, Drawn, Unit, draw, survey

STRATA = [("Model A", "identity"), ("Model A", "location"), ("Model B", "identity")]
FRAMES = st.dictionaries(st.text(min_size=1, max_size=6), st.sampled_from(STRATA), max_size=40).map(
    lambda cells: [Unit(key, stratum) for key, stratum in cells.items()]
)


def test_six_of_each_model_and_class_make_the_studys_360():
    strata = list(product((f"model {m:02d}" for m in range(20)), ("identity", "attribute", "location")))
    frame = [
        Unit(f"{model}/{premise_class}/{n}", (model, premise_class))
        for model, premise_class in strata
        for n in range(50)
    ]
    result = draw(frame, 6, seed=1)
    assert len(result.drawn) == 360
    assert set(Counter(unit.stratum for unit in result.drawn).values()) == {6}
    assert {unit.probability for unit in result.drawn} == {6 / 50}
    assert result.shortfalls == ()


def test_the_draw_of_a_seed_never_changes():
    # printf '["1", "m", "identity", "r6"]' | sha256sum, and so on: r6, r7 and r9 come first.
    frame = [Unit(f"r{n}", ("m", "identity")) for n in range(10)]
    assert [unit.key for unit in draw(frame, 3, seed=1).drawn] == ["r6", "r7", "r9"]


@given(FRAMES, st.integers(1, 8), st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_the_frame_does_not_matter(frame, per_cell, seed, rng):
    shuffled = random.Random(rng.random()).sample(frame, len(frame))
    assert draw(frame, per_cell, seed) == draw(shuffled, per_cell, seed)


@given(FRAMES, st.integers(1, 8), st.integers())
def test_each_stratum_gives_what_was_asked_or_all_it_has(frame, per_cell, seed):
    result = draw(frame, per_cell, seed)
    sizes = Counter(unit.stratum for unit in frame)
    assert Counter(unit.stratum for unit in result.drawn) == {s: min(per_cell, n) for s, n in sizes.items()}
    assert len({unit.key for unit in result.drawn}) == len(result.drawn)
    assert {Unit(unit.key, unit.stratum) for unit in result.drawn} <= set(frame)
    assert all(unit.probability == min(1, per_cell / sizes[unit.stratum]) for unit in result.drawn)
    assert {cell.stratum: cell.size for cell in result.shortfalls} == {s: n for s, n in sizes.items() if n < per_cell}


@given(FRAMES, st.integers(1, 8), st.integers())
def test_one_stratum_never_moves_another(frame, per_cell, seed):
    alone = [unit for unit in frame if unit.stratum == STRATA[0]]
    together = [unit for unit in draw(frame, per_cell, seed).drawn if unit.stratum == STRATA[0]]
    assert list(draw(alone, per_cell, seed).drawn) == together


def test_every_unit_is_drawn_about_equally_often_over_seeds():
    frame = [Unit(f"r{n}", ("m",)) for n in range(10)]
    seen = Counter(unit.key for seed in range(2000) for unit in draw(frame, 3, seed).drawn)
    # 2,000 draws at 0.3: 600 expected, standard deviation 20.5.
    assert all(500 < count < 700 for count in seen.values())
    assert len(seen) == 10


def test_a_stratum_that_falls_short_is_reported_with_its_size():
    frame = [Unit("a", ("m", "identity"))]
    result = draw(frame, 6, seed=1, strata=[("m", "identity"), ("m", "location")])
    assert result.drawn == (Drawn("a", ("m", "identity"), 1.0),)
    assert result.shortfalls == (Cell(("m", "identity"), 1, 0, 6), Cell(("m", "location"), 0, 0, 6))
    assert [(cell.given, cell.short, cell.probability) for cell in result.cells] == [(1, 5, 1.0), (0, 6, 0.0)]


def test_another_seed_gives_another_draw():
    frame = [Unit(f"r{n}", ("m",)) for n in range(100)]
    assert draw(frame, 6, seed=1) != draw(frame, 6, seed=2)


def test_a_key_that_comes_twice_and_an_empty_draw_are_refused():
    with pytest.raises(ValueError, match="comes twice"):
        draw([Unit("a", ("m",)), Unit("a", ("n",))], 1, seed=1)
    with pytest.raises(ValueError, match="At least one"):
        draw([], 0, seed=1)


# Barred units -----------------------------------------------------------------------------------------

BARRED = st.sets(st.text(min_size=1, max_size=6), max_size=20)


@given(FRAMES, st.integers(1, 8), st.integers(), st.data())
def test_a_barred_unit_gives_its_place_to_the_next_of_its_own_stratum(frame, per_cell, seed, data):
    barred = data.draw(st.sets(st.sampled_from([unit.key for unit in frame]))) if frame else set()
    result = draw(frame, per_cell, seed, barred=barred)
    free = [unit for unit in frame if unit.key not in barred]
    # The rank of a unit depends on nothing else, so it is the draw of the others alone.
    assert result.drawn == draw(free, per_cell, seed, strata={unit.stratum for unit in frame}).drawn
    assert not {unit.key for unit in result.drawn} & barred


@given(FRAMES, st.integers(1, 8), st.integers(), BARRED)
def test_probabilities_of_what_can_be_drawn_sum_to_what_is_drawn(frame, per_cell, seed, barred):
    result = draw(frame, per_cell, seed, barred=barred)
    for cell in result.cells:
        free = [unit for unit in frame if unit.stratum == cell.stratum and unit.key not in barred]
        assert sum(cell.probability for _ in free) == pytest.approx(
            sum(unit.stratum == cell.stratum for unit in result.drawn)
        )


@given(FRAMES, st.integers(1, 8), st.integers(), BARRED)
def test_a_survey_tells_before_the_draw_what_the_draw_tells(frame, per_cell, seed, barred):
    assert survey(frame, per_cell, barred=barred) == draw(frame, per_cell, seed, barred=barred).cells


def test_so_many_are_replaced_as_were_passed_over():
    frame = [Unit(f"r{n}", ("m", "identity")) for n in range(10)]
    # By rank: r6, r7, r9 first (see above). Without r7 another comes, and one was passed over.
    result = draw(frame, 3, seed=1, barred={"r7"})
    assert {"r6", "r9"} < {unit.key for unit in result.drawn}
    assert result.replaced == 1
    assert {unit.probability for unit in result.drawn} == {3 / 9}
    last = next(f"r{n}" for n in range(10) if f"r{n}" not in {unit.key for unit in draw(frame, 9, seed=1).drawn})
    assert draw(frame, 3, seed=1, barred={last}).replaced == 0
    assert draw(frame, 10, seed=1, barred={last}).replaced == 1


def test_with_barred_units_every_other_is_drawn_equally_often_over_seeds():
    frame = [Unit(f"r{n}", ("m",)) for n in range(10)]
    barred = {"r0", "r5"}
    seen = Counter(unit.key for seed in range(2000) for unit in draw(frame, 2, seed, barred=barred).drawn)
    # 2,000 draws at 2/8: 500 expected, standard deviation 19.4.
    assert set(seen) == {f"r{n}" for n in range(10)} - barred
    assert all(410 < count < 590 for count in seen.values())


def test_strata_may_want_different_numbers_and_none():
    frame = [Unit(f"{stratum}{n}", (stratum,)) for stratum in "abc" for n in range(5)]
    wanted = {("a",): 0, ("b",): 2, ("c",): 9}
    result = draw(frame, wanted.__getitem__, seed=1)
    assert Counter(unit.stratum for unit in result.drawn) == {("b",): 2, ("c",): 5}
    assert [cell.short for cell in result.cells] == [0, 0, 4]
