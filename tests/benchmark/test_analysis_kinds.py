"""What each kind of analysis computes: the study's own figures from the published counts, and small cases by hand."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from annotate.models import Dataset, User
from annotate.models.protocols import STUDY
from benchmark import published
from benchmark.analyses import KINDS, digests, repeat_runs
from benchmark.analyses.inputs import CLASSES, Labels
from benchmark.analyses.lexical import Inputs as Variants
from benchmark.analyses.persistence import Inputs as Plain
from benchmark.analyses.self_scoring import Inputs as Selves
from benchmark.charts import paper
from benchmark.models import Response
from benchmark.services import analyses, results
from benchmark.statistics.patterns import pack
from fpco_site.errors import Invalid
from tests import factories, published_release

FALSE = list(range(4, 11))
DRAWN: set[tuple[str, str]] = set()  # one figure of each kind is drawn, which takes half a second


def labels_of(corrections: Any, *, models: list[str], classes: list[str], **more: Any) -> Labels:
    """Labels from booleans of shape (model, item, turn, detector), all of them there unless `labelled` says else."""
    array = np.asarray(corrections, dtype=bool)
    turns = array.shape[2]
    correction = pack(array.transpose(0, 3, 1, 2))
    false = FALSE if turns == 10 else [turns]
    values: dict[str, Any] = {
        "models": models,
        "families": [name.split()[0] for name in models],
        "detectors": ["gpt", "gemini"],
        "detector_names": ["GPT", "Gemini"],
        "primary": [0, 1],
        "places": {"premise_class": np.array(classes)},
        "images": np.arange(array.shape[1]),
        "labelled": np.full(correction.shape, 2**turns - 1),
        "correction": correction,
        "turns": turns,
        "false_turns": false,
        "true_turns": [turn for turn in range(1, turns + 1) if turn not in false],
    }
    return Labels(**{**values, **more})


def result_of(slug: str, inputs: Any, **parameters: Any) -> dict[str, Any]:
    """The result as it is stored, with every section made of it."""
    kind = KINDS[slug]
    ran = kind.run(inputs, {**kind.defaults, **parameters}, np.random.default_rng(1))
    stored: dict[str, Any] = json.loads(json.dumps(digests.plain(ran), allow_nan=False))
    for section in kind.sections(stored):
        assert section.words
        assert all(column.key in row for column in section.columns for row in section.rows)
        if section.figure is not None and (slug, section.title) not in DRAWN:
            assert paper.figure(section.figure, "svg", "double").startswith(b"<svg")
            DRAWN.add((slug, section.title))
    return stored


def words_of(slug: str, stored: dict[str, Any]) -> str:
    return " ".join(section.words for section in KINDS[slug].sections(stored))


@pytest.fixture(scope="module")
def study() -> Labels:
    """The published counts, as labels that were made from them."""
    items = published_release.made_items()
    names = [model.name for model in published.models()]
    return labels_of(published_release.made_labels(1), models=names, classes=[item.premise_class for item in items])


# The study's figures ------------------------------------------------------------------------------------------------


def test_leave_one_judge_out_gives_the_published_scores_and_ranks(study: Labels) -> None:
    names = study.models
    selves = [[names.index("GPT-5.4")], [names.index("Gemini 3.1 Pro Preview")]]
    found = result_of("self_scoring", Selves(study, selves, ["as declared"] * 2))
    rows = {row["model"]: row for row in found["rows"]}
    gpt, gemini = rows["GPT-5.4"], rows["Gemini 3.1 Pro Preview"]
    assert (f"{gpt['mean']:.4f}", f"{gpt['check']:.4f}", gpt["by"]) == ("0.2939", "0.2886", "second")
    assert (f"{gemini['mean']:.4f}", f"{gemini['check']:.4f}", gemini["by"]) == ("0.5880", "0.5906", "first")
    assert (gpt["mean_rank"], gpt["check_rank"], gemini["mean_rank"], gemini["check_rank"]) == (12, 12, 7, 7)
    assert (found["moved"], found["moved_alone"][0]) == (0, 6)
    assert all(row["check"] == row["mean"] for name, row in rows.items() if row["by"] == "mean")
    assert "The ranking of all models is unchanged." in words_of("self_scoring", found)


def test_the_ordering_holds_at_every_cutoff_and_four_models_break_it(study: Labels) -> None:
    found = result_of("truncation", Plain(study))
    assert [(row["k"], row["holds"]) for row in found["rows"]] == [(k, True) for k in FALSE]
    last = found["rows"][-1]
    assert (last["models"] - last["models_keep"], last["ordering"]) == (4, "identity > attribute > location")
    assert [round(last[name], 2) for name in CLASSES] == [0.56, 0.41, 0.15]
    assert sum(row["holds"] is False for row in found["models"]) == 4
    assert all(
        row[f"{name}_interval"][0] < row[name] < row[f"{name}_interval"][1] for row in found["rows"] for name in CLASSES
    )
    by_turn = result_of("truncation", Plain(study), measure="turn_corr")
    assert by_turn["rows"][0] == found["rows"][0]
    assert by_turn["rows"][-1] != last
    assert result_of("truncation", Plain(study), label="gpt")["label"] == "GPT"


def test_ten_models_lose_more_than_five_points_at_most_15_93(study: Labels) -> None:
    found = result_of("persistence", Plain(study))
    assert (found["losing"], found["models"], f"{found['largest']:.2f}") == (10, 20, "15.93")
    for row in found["rows"]:
        low, high = row["points_interval"]
        assert low < row["points"] < high
    for row in found["patterns"]:
        assert sum(row[name] for name in ("always", "never", "stops", "starts", "mixed")) == pytest.approx(1)
    assert result_of("persistence", Plain(study), loss=20.0)["losing"] == 0


def test_over_correction_rests_on_few_answers_and_says_so(study: Labels) -> None:
    found = result_of("over_correction", Plain(study))
    assert np.mean([row["corr_fp"] for row in found["rows"]]) == pytest.approx(0.0101, abs=5e-5)
    rho = found["correlation"]
    assert rho["low"] <= rho["value"] <= rho["high"]
    from scipy.stats import spearmanr

    expected = spearmanr([row["corr_tp"] for row in found["rows"]], [row["corr_fp"] for row in found["rows"]])
    assert rho["value"] == pytest.approx(expected.statistic)
    assert any("beyond 0.02 to 0.98" in row["caution"] for row in found["rows"])


# Small cases --------------------------------------------------------------------------------------------------------


def small(pattern: list[str]) -> Labels:
    """One model; each text is a dialogue's turns 4 to 10 under both detectors, x a correction."""
    said = np.zeros((1, len(pattern), 10, 2), dtype=bool)
    for item, text in enumerate(pattern):
        said[0, item, 3:] = np.array([[mark == "x"] * 2 for mark in text])
    return labels_of(said, models=["One"], classes=[CLASSES[item % 3] for item in range(len(pattern))])


def test_dialogues_are_told_apart_by_what_becomes_of_the_correction() -> None:
    (row,) = result_of("persistence", Plain(small(["xxxxxxx", ".......", "xxx....", "...xxxx", "x.x.x.x"])))["patterns"]
    assert [row[name] for name in ("always", "never", "stops", "starts", "mixed")] == [0.2] * 5
    assert (row["n"], row["left_out"]) == (5, 0)


def test_a_dialogue_without_a_label_has_no_pattern() -> None:
    labels = small(["xxxxxxx", "......."])
    labels.labelled[0, 1, 0] &= ~(1 << 9)
    (row,) = result_of("persistence", Plain(labels))["patterns"]
    assert (row["n"], row["left_out"], row["always"], row["never"]) == (1, 1, 0.0, 1.0)


def test_a_change_on_one_image_has_no_interval_but_a_reason() -> None:
    (row,) = result_of("persistence", Plain(small(["xxxxxx."])))["rows"]
    assert (row["points"], row["points_interval"], row["loses"]) == (-100.0, None, True)
    assert row["reason"] == "no interval: all labels are of one image"


@pytest.mark.parametrize("slug", ["self_scoring", "truncation", "persistence", "over_correction"])
def test_nothing_labelled_is_undefined_with_a_reason_and_never_nought(slug: str) -> None:
    labels = small(["xxxxxxx", "......."])
    labels.labelled[:] = 0
    found = result_of(slug, Selves(labels, [[0], []], ["as declared"] * 2) if slug == "self_scoring" else Plain(labels))
    row = found["rows"][0]
    key = {"self_scoring": "mean", "truncation": "identity", "persistence": "points", "over_correction": "corr_tp"}[
        slug
    ]
    assert row[key] is None
    assert row["reason"]


def test_a_model_that_is_both_detectors_is_scored_by_nobody() -> None:
    found = result_of("self_scoring", Selves(small(["xxxxxxx"]), [[0], [0]], ["as declared"] * 2))
    assert (found["rows"][0]["check"], found["rows"][0]["by"]) == (None, "nobody")


def variants(rates: dict[str, dict[str, tuple[int, int]]], images: int = 10) -> Variants:
    """Models with, for each class, how many images are corrected at turn 4 under A and under B."""
    said = np.zeros((len(rates), images * 6, 4, 2), dtype=bool)
    for model, classes in enumerate(rates.values()):
        for at, name in enumerate(CLASSES):
            for letter, count in enumerate(classes[name]):
                for image in range(count):
                    said[model, image * 6 + at * 2 + letter, 3] = True
    names = [CLASSES[at // 2] for _ in range(images) for at in range(6)]
    labels = labels_of(said, models=list(rates), classes=names, images=np.repeat(np.arange(images), 6))
    return Variants(labels, np.arange(images * 6).reshape(images, 3, 2), 0)


def test_an_ordering_that_no_substitution_touches_is_kept_by_every_selection() -> None:
    kept = {"identity": (9, 9), "attribute": (5, 5), "location": (1, 1)}
    turned = {"identity": (1, 1), "attribute": (5, 5), "location": (9, 9)}
    found = result_of("lexical", variants({"Keeps": kept, "Keeps too": kept, "Turns": turned}), repetitions=50)
    assert (found["share"]["value"], found["share"]["n"], found["images"]) == (1.0, 50, 10)
    assert [(row["share"], row["holds"]) for row in found["models"]] == [(1.0, True), (1.0, True), (0.0, False)]
    assert found["orderings"] == [{"ordering": "identity > attribute > location", "share": 1.0, "n": 50}]
    assert "holds strictly for 2 of 3 models: Keeps, Keeps too" in words_of("lexical", found)


def test_selections_are_a_fair_coin_for_each_image_and_the_seed_gives_them_again() -> None:
    # Attribute is corrected on all 10 images under B and on none under A; identity on 5. So attribute falls below
    # identity where fewer than 5 of 10 coins show B: 386 of 1,024, and at 5 they are equal, which keeps nothing.
    inputs = variants({"One": {"identity": (5, 5), "attribute": (0, 10), "location": (0, 0)}})
    found = result_of("lexical", inputs, repetitions=4_000)
    # With no B at all attribute equals location, once in 1,024.
    assert found["share"]["value"] == pytest.approx(385 / 1024, abs=0.03)
    assert found == result_of("lexical", inputs, repetitions=4_000)
    assert {row["ordering"] for row in found["orderings"]} >= {"identity = attribute > location"}
    by_image = result_of("lexical", inputs, repetitions=100, by="image")
    assert by_image["by"] == "image"


def test_equal_rates_do_not_keep_an_ordering() -> None:
    same = {"identity": (5, 5), "attribute": (5, 5), "location": (1, 1)}
    found = result_of("lexical", variants({"One": same}), repetitions=20)
    assert (found["share"]["value"], found["models"][0]["pooled"]) == (0.0, "identity = attribute > location")


@pytest.mark.django_db(transaction=True)
def test_texts_of_repeated_runs_are_read_once_and_an_answer_that_came_since_is_seen(
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    over = factories.dataset(items=2)
    first = factories.run(dataset=over, answered=10, state="complete")
    second = factories.run(dataset=over, model=first.model, answered=9)
    items = list(over.items.order_by("key").values_list("pk", flat=True))

    def texts() -> list[list[list[int]]]:
        found: list[list[list[int]]] = repeat_runs._texts([first, second], items, 10).tolist()
        return found

    before = texts()
    with django_assert_num_queries(1):
        assert texts() == before
    dialogue = second.dialogues.get(item=items[1])
    Response.objects.create(dialogue=dialogue, turn=10, text="It stands alone.")
    after = texts()
    assert [row[:9] for row in after[1]] == [row[:9] for row in before[1]]
    assert (before[1][1][9], after[1][0][9], after[0]) == (0, 0, before[0])
    assert after[1][1][9] > 0


# From rows ----------------------------------------------------------------------------------------------------------


def asked(slug: str, over: Dataset, by: User, **parameters: Any) -> dict[str, Any]:
    """The stored result over the dataset's newest result set."""
    result_set = results.default(over)
    assert result_set is not None
    row = analyses.request(kind=slug, result_set=result_set, parameters=parameters, by=by)
    assert row.result is not None, row.error
    return dict(row.result)


@pytest.mark.django_db
@pytest.mark.db
class TestRows:
    """Reading from the database."""

    def test_a_detector_is_a_model_where_their_ids_are_the_same_or_it_is_declared(self, ada: User) -> None:
        over = factories.dataset(items=3)
        judge = factories.model("Judge", model_id="judge-1")
        run = factories.run(dataset=over, model=judge, answered=10, state="complete", simulated=False)
        factories.run(dataset=over, model=factories.model("Other"), answered=10, state="complete", simulated=False)
        factories.detector_labels(factories.detector("first", model_id="judge-1"), run, True)
        factories.detector_labels(factories.detector("second"), run, False)
        by_id = asked("self_scoring", over, ada)["detectors"]
        assert [(row["models"], row["how"]) for row in by_id] == [
            (["Judge"], "by its model id judge-1"),
            ([], "by its model id rules-strict"),
        ]
        declared = asked("self_scoring", over, ada, first_is="none", second_is="Other")["detectors"]
        assert [row["models"] for row in declared] == [[], ["Other"]]

    def test_two_runs_of_a_model_are_compared_turn_by_turn(self, ada: User) -> None:
        over = factories.dataset(items=4)
        first = factories.run(dataset=over, answered=10, state="complete", simulated=False)
        with pytest.raises(Invalid, match="before a detector was asked"):
            asked("repeat_runs", over, ada)
        strict, lenient = factories.detector("strict"), factories.detector("lenient")

        def late(response: Response) -> bool:
            return response.turn >= 6

        def later(response: Response) -> bool:
            return response.turn >= 7

        for detector in (strict, lenient):
            factories.detector_labels(detector, first, late)
        with pytest.raises(Invalid, match="No model was run twice"):
            asked("repeat_runs", over, ada)
        second = factories.run(dataset=over, model=first.model, state="complete", simulated=False)
        *same, other = second.dialogues.order_by("pk")
        for dialogue in same:
            said = Response.objects.filter(dialogue__run=first, dialogue__item=dialogue.item)
            Response.objects.bulk_create(Response(dialogue=dialogue, turn=one.turn, text=one.text) for one in said)
        factories.answers(other, 10)
        for detector in (strict, lenient):
            factories.detector_labels(detector, second, later)
        found = asked("repeat_runs", over, ada)
        (pair,) = found["pairs"]
        assert (pair["first_run"], pair["second_run"], pair["same"]) == (first.pk, second.pk, 0.9)
        assert [one["value"] for one in pair["turns"]] == [1.0] * 5 + [0.0] + [1.0] * 4
        tp, fp = pair["rates"]
        assert tp["points"] == pytest.approx(-100 / 7)
        low, high = fp["points_interval"]
        assert (fp["points"], low) == (0.0, pytest.approx(-high))
        assert (pair["words"]["same"], pair["words"]["same_n"]) == (0.75, 40)
        table = KINDS["repeat_runs"].sections(found)[1]
        assert "0.750 of 40 answers" in table.words
        assert [(row["what"], row["same"], row["turn_6"]) for row in table.rows] == [
            ("label", 0.9, 0.0),
            ("text", 0.75, 0.75),
        ]

    def test_variants_are_read_by_parent_class_and_letter(self, ada: User) -> None:
        over = factories.dataset("Lexical", items=0, protocol={**STUDY, "turns": 4, "false_turns": [4]})
        photo = factories.image()
        for at, name in enumerate(CLASSES):
            for letter in ("B", "A"):
                factories.dataset_item(
                    over, image=photo, premise_class=name, parent="cat", variant=letter, key=f"cat-{at}-{letter}"
                )
        factories.dataset_item(over, premise_class="identity", parent="dog", variant="A", key="dog-0-A")
        run = factories.run(dataset=over, answered=4, state="complete", simulated=False)
        wanted = {"cat-0-A", "cat-0-B", "cat-1-A"}

        def corrected(response: Response) -> bool:
            return response.turn == 4 and response.dialogue.item.key in wanted

        for slug in ("strict", "lenient"):
            factories.detector_labels(factories.detector(slug), run, corrected)
        found = asked("lexical", over, ada)
        assert (found["images"], found["left_out"], found["k"]) == (1, 1, 4)
        # Identity is corrected under both, attribute under A alone: the ordering needs attribute strictly between.
        assert found["share"]["value"] == 0.0
        rates = {(one["class"], one["set"]): one["value"] for one in found["rates"] if one["model"] == run.model.name}
        assert (rates["identity", "B"], rates["attribute", "A"], rates["attribute", "B"]) == (1.0, 1.0, 0.0)
        assert rates["attribute", "both"] == 0.5
        assert found["models"][0]["holds"] is True

    def test_a_dataset_without_variants_says_what_is_needed(self, ada: User) -> None:
        run = factories.run(dataset=factories.dataset("Pilot", items=3), answered=10, state="complete")
        factories.detector_labels(factories.detector(), run)
        with pytest.raises(Invalid, match="Pilot holds no variants"):
            asked("lexical", run.dataset, ada)
