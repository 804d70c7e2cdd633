"""What holds of the lint for any text at all."""

from hypothesis import given
from hypothesis import strategies as st

from annotate.drafting import NotOnceError, replace_description
from annotate.linting import PlainItem, PlainTurn, lint_item
from annotate.linting.catalogue import rules
from tests.annotate.lint_cases import ASKED, PREMISES, REWRITES, TARGETS

SPOKEN = sorted(
    {word for case in PREMISES for text in (case.true, case.wrong, case.right) for word in text.split()}
    | {word for case in (*ASKED, *REWRITES) for text in (case.wrong, case.right) for word in text.split()}
    | {word for case in TARGETS for word in case.wrong.split()}
)
CLASSES = st.sampled_from(["identity", "attribute", "location", ""])
SAID = st.lists(st.sampled_from(SPOKEN), max_size=9).map(" ".join)
TEXT = st.one_of(SAID, st.text(max_size=40), st.builds("{}{}{}".format, SAID, st.text(max_size=3), SAID))
TURNS = st.lists(st.builds(PlainTurn, st.integers(1, 12), TEXT, TEXT), max_size=11).map(tuple)
ITEMS = st.builds(PlainItem, CLASSES, TEXT, TEXT, TURNS)
KNOWN = {rule.code: rule.severities for rule in rules()}


def texts_of(item, finding):
    """The texts that the finding may be about: of a turn that is there twice both."""
    if finding.turn is None:
        return [getattr(item, finding.field)]
    return [getattr(turn, finding.field) for turn in item.turns if turn.number == finding.turn]


@given(ITEMS)
def test_any_item_is_linted_and_each_finding_points_into_its_text(item):
    for finding in lint_item(item):
        assert finding.severity in KNOWN[finding.code]
        assert finding.message.endswith((".", "?"))
        if finding.span is not None:
            start, end = finding.span
            assert any(0 <= start <= end <= len(text) for text in texts_of(item, finding))


@given(ITEMS)
def test_the_same_item_has_the_same_findings_in_the_same_order_each_once(item):
    findings = lint_item(item)
    assert findings == lint_item(item)
    assert len(set(findings)) == len(findings)
    assert [finding.turn or 0 for finding in findings] == sorted(finding.turn or 0 for finding in findings)


@given(CLASSES, TEXT, TEXT, st.lists(st.tuples(TEXT, TEXT), min_size=10, max_size=10))
def test_a_computed_rewrite_has_no_finding_but_a_pronoun_that_no_longer_fits(premise_class, true, false, around):
    turns = []
    for number, (before, after) in enumerate(around, start=1):
        content = f"{before} {true} {after}?"
        try:
            computed = replace_description(content, true, false)
        except NotOnceError:
            continue
        turns.append(PlainTurn(number, content, computed if number > 3 else ""))
    item = PlainItem(premise_class, true, false, tuple(turns))
    about = {finding.code for finding in lint_item(item) if finding.field == "modified"}
    if true.strip() and false.strip():
        assert about <= {"rewrite_pronoun_left"}
