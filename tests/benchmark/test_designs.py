"""Designs: which stratum an answer falls into, how many are drawn, and what a draw tells of itself."""

import json
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.designs import Candidate, Frame, Kind, Naming, Plan, canonical, draw, record, stated, strata, survey
from fpco_site.errors import Invalid

MODELS = ["Model A", "Model B"]
CLASSES = ["attribute", "identity", "location"]
LABELS = st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        key=st.just(""),
        model=st.sampled_from(MODELS),
        premise_class=st.sampled_from(CLASSES),
        correct_turn=st.booleans(),
        labels=LABELS,
        named=st.booleans(),
    ),
    max_size=40,
).map(lambda rows: [row._replace(key=f"{row.model}/{number}") for number, row in enumerate(rows)])
FRAMES = CANDIDATES.map(lambda rows: Frame(rows, MODELS, CLASSES, ["gpt", "gemini"]))
PLANS = st.builds(
    Plan,
    kind=st.sampled_from(Kind),
    number=st.integers(1, 6),
    agreeing=st.integers(0, 6),
    each_detector=st.booleans(),
    correct=st.integers(0, 4),
    naming=st.sampled_from(Naming),
)


def candidate(key: str, **more: object) -> Candidate:
    plain = Candidate(key, "Model A", "identity", False, (True, False), False)
    return plain._replace(**more)


def frame(*rows: Candidate) -> Frame:
    return Frame(list(rows), MODELS, CLASSES, ["gpt", "gemini"])


@given(PLANS, FRAMES, st.integers(), st.integers())
def test_the_order_of_answers_moves_nothing(plan, found, seed, shuffle):
    shuffled = replace(found, candidates=Random(shuffle).sample(found.candidates, len(found.candidates)))
    assert draw(plan, found, seed) == draw(plan, shuffled, seed)
    assert canonical(plan, seed, draw(plan, found, seed)) == canonical(plan, seed, draw(plan, shuffled, seed))
    assert survey(plan, found) == survey(plan, shuffled)


@given(PLANS, FRAMES, st.integers(), st.integers())
def test_a_seed_moves_nothing_between_strata(plan, found, one, other):
    first, second = draw(plan, found, one), draw(plan, found, other)
    assert first.cells == second.cells
    assert Counter(unit.stratum for unit in first.drawn) == Counter(unit.stratum for unit in second.drawn)


@given(PLANS, FRAMES, st.integers())
def test_replacing_keeps_the_strata_and_draws_nothing_that_names_a_model(plan, found, seed):
    rule = replace(plan, naming=Naming.REPLACE)
    drawn, without = draw(rule, found, seed), [row for row in found.candidates if not row.named]
    named = {row.key for row in found.candidates if row.named}
    assert not {unit.key for unit in drawn.drawn} & named
    assert drawn.drawn == draw(plan, replace(found, candidates=without), seed).drawn
    assert {cell.stratum for cell in drawn.cells} == {cell.stratum for cell in survey(plan, found).cells}


@given(PLANS, FRAMES, st.integers())
def test_the_preview_holds_what_the_draw_does(plan, found, seed):
    before, after = survey(plan, found), draw(plan, found, seed)
    assert before.cells == after.cells
    assert before.drawn == len(after.drawn)
    assert before.frame + before.left_out == len(found.candidates)
    kept = record(plan, before, after, named={row.key for row in found.candidates if row.named})
    assert kept["naming"]["drawn"] <= kept["naming"]["found"] == before.found
    assert sum(cell["probability"] * (cell["size"] - (cell["named"] if plan.naming == Naming.REPLACE else 0))
               for cell in kept["cells"]) == pytest.approx(kept["drawn"])  # fmt: skip


@given(PLANS)
def test_a_plan_is_read_as_it_was_kept(plan):
    kept = json.loads(json.dumps(record(plan, survey(plan, frame()), draw(plan, frame(), 1), named=())))
    assert Plan.read(kept["plan"]) == plan


@given(PLANS, FRAMES, st.integers(0, 2**62))
def test_a_draw_is_canonical_json_that_says_all_of_itself(plan, found, seed):
    drawn = draw(plan, found, seed)
    text = canonical(plan, seed, drawn)
    assert text.isascii()
    told = json.loads(text)
    assert text == json.dumps(told, sort_keys=True, separators=(",", ":"))
    assert (told["seed"], len(told["drawn"])) == (seed, len(drawn.drawn))


def test_the_studys_design_has_a_stratum_for_each_model_and_class():
    plan = Plan()
    assert strata(plan, frame()) == [(model, place) for model in MODELS for place in CLASSES]
    assert {cell.wanted for cell in survey(plan, frame()).cells} == {6}


def test_at_random_all_answers_are_one_stratum():
    rows = [candidate(str(n), model=MODELS[n % 2], premise_class=CLASSES[n % 3]) for n in range(12)]
    drawn = draw(Plan(kind=Kind.RANDOM, number=3), frame(*rows), seed=1)
    assert {(unit.stratum, unit.probability) for unit in drawn.drawn} == {(("all answers",), 3 / 12)}


@pytest.mark.parametrize(
    ("labels", "joint", "apart"),
    [
        ((True, True), "both", "both"),
        ((False, False), "neither", "neither"),
        ((True, False), "one-sided", "only gpt"),
        ((False, True), "one-sided", "only gemini"),
    ],
)
def test_by_label_an_answer_is_where_its_two_labels_put_it(labels, joint, apart):
    found = frame(candidate("a", labels=labels))
    for each, stratum in ((False, joint), (True, apart)):
        (drawn,) = draw(Plan(kind=Kind.LABEL, each_detector=each), found, seed=1).drawn
        assert drawn.stratum == (stratum,)
        assert (stratum,) in strata(Plan(kind=Kind.LABEL, each_detector=each), found)


def test_an_answer_without_both_labels_is_left_out_and_counted():
    found = frame(candidate("a", labels=(True, None)), candidate("b", labels=(None, None)), candidate("c"))
    for kind in (Kind.LABEL, Kind.DISAGREEMENT):
        told = survey(Plan(kind=kind, agreeing=1), found)
        assert (told.frame, told.left_out) == (1, 2)
    assert survey(Plan(), found).left_out == 0


def test_by_disagreement_each_side_has_its_own_number():
    rows = [candidate(f"d{n}", labels=(True, False)) for n in range(4)]
    rows += [candidate(f"a{n}", labels=(True, True)) for n in range(40)]
    drawn = draw(Plan(kind=Kind.DISAGREEMENT, number=3, agreeing=5), frame(*rows), seed=1)
    assert Counter((unit.stratum, unit.probability) for unit in drawn.drawn) == {
        (("detectors disagree",), 3 / 4): 3,
        (("detectors agree",), 5 / 40): 5,
    }


@pytest.mark.parametrize("kind", Kind)
def test_correct_turns_are_a_stratum_of_each_model_in_every_design(kind):
    rows = [candidate(f"{model}{n}", model=model, correct_turn=True) for model in MODELS for n in range(4)]
    rows += [candidate(f"false{n}") for n in range(8)]
    drawn = draw(Plan(kind=kind, number=2, agreeing=2, correct=3), frame(*rows), seed=1)
    correct = [unit for unit in drawn.drawn if unit.stratum[-1] == "correct turns"]
    assert Counter((unit.stratum, unit.probability) for unit in correct) == {
        ((model, "correct turns"), 3 / 4): 3 for model in MODELS
    }
    without = draw(Plan(kind=kind, number=2, agreeing=2), frame(*rows), seed=1)
    assert without.drawn == tuple(unit for unit in drawn.drawn if unit not in correct)


def test_only_the_numbers_of_the_chosen_design_are_read():
    given = {"design": "random", "per_cell": None, "total": 12, "per_label": 3, "each_detector": True}
    given |= {"disagreeing": 5, "agreeing": 6, "correct": None, "naming": "replace"}
    assert stated(given) == Plan(kind=Kind.RANDOM, number=12, naming=Naming.REPLACE)


@pytest.mark.parametrize("numbers", [{"number": 0}, {"correct": -1}, {"number": 100_001}])
def test_numbers_that_can_not_be_drawn_are_refused(numbers):
    with pytest.raises(Invalid):
        Plan(**numbers)


def test_the_fingerprint_changes_with_any_number_that_was_shown():
    rows = [candidate("a"), candidate("b")]
    same = survey(Plan(), frame(*rows)).fingerprint
    assert same == survey(Plan(), frame(*reversed(rows))).fingerprint
    assert same != survey(Plan(), frame(*rows, candidate("c"))).fingerprint
    assert same != survey(Plan(), frame(rows[0], candidate("b", named=True))).fingerprint
    assert same != survey(Plan(number=7), frame(*rows)).fingerprint
