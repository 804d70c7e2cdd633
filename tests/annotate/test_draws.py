"""The draw of images: even over the cells, and the same for the same seed."""

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import draws
from annotate.axes import CELLS
from annotate.draws import Unit

CELL = st.sampled_from(list(product("ab", "xy", "12")))
UNITS = st.dictionaries(st.text(min_size=1, max_size=6), CELL, max_size=40).map(
    lambda cells: [Unit(key, cell) for key, cell in cells.items()]
)


def full_frame(per_cell: int = 30) -> list[Unit]:
    return [Unit(f"{'/'.join(cell)}/{n:02d}", cell) for cell in CELLS for n in range(per_cell)]


def test_thirty_of_the_full_study_come_from_thirty_cells_with_even_axes() -> None:
    for seed in range(20):
        drawn = draws.draw(full_frame(), 30, seed)
        cells = [tuple(key.split("/")[:3]) for key in drawn]
        assert set(Counter(cells).values()) == {1}
        for axis in range(3):
            levels = Counter(cell[axis] for cell in cells).values()
            assert max(levels) - min(levels) <= 2


def test_the_draw_of_a_seed_never_changes() -> None:
    # printf '[1, "m", "r5"]' | sha256sum, and so on: r5, r0 and r6 come first.
    units = [Unit(f"r{n}", ("m",)) for n in range(10)]
    assert draws.draw(units, 3, 1) == ["r5", "r0", "r6"]


@given(UNITS, st.integers(1, 20), st.integers(0, 99), st.randoms(use_true_random=False))
def test_the_order_of_the_units_does_not_matter(units: list[Unit], n: int, seed: int, rng: random.Random) -> None:
    shuffled = random.Random(rng.random()).sample(units, len(units))
    assert draws.draw(units, n, seed) == draws.draw(shuffled, n, seed)


@given(UNITS, st.integers(0, 60), st.integers(0, 99), st.lists(CELL, max_size=10))
def test_each_cell_gives_as_many_as_any_other_unless_it_is_used_up(
    units: list[Unit], n: int, seed: int, taken: list[draws.Cell]
) -> None:
    drawn = draws.draw(units, n, seed, taken=taken)
    assert len(drawn) == len(set(drawn)) == min(n, len(units))
    cells = {unit.key: unit.cell for unit in units}
    sizes, had = Counter(cells.values()), Counter(taken)
    got = Counter(cells[key] for key in drawn)
    for cell, other in product(sizes, sizes):
        if got[cell] < sizes[cell] and got[other]:  # it had more to give, so the other isn't ahead by two
            assert had[other] + got[other] <= had[cell] + got[cell] + 1


def test_every_unit_is_drawn_about_equally_often_over_seeds() -> None:
    units = [Unit(f"{cell}{n}", (cell,)) for cell in "ab" for n in range(5)]
    seen = Counter(key for seed in range(2000) for key in draws.draw(units, 3, seed))
    # 2,000 draws at 0.3: 600 expected, standard deviation 20.5.
    assert all(500 < count < 700 for count in seen.values())
    assert len(seen) == 10


def test_a_key_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="comes twice"):
        draws.draw([Unit("a", ("m",)), Unit("a", ("n",))], 1, 1)
