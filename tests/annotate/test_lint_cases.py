"""Each case of the table: the wrong text gives its code at the wrong words, the right one does not."""

import codecs
from dataclasses import replace

import pytest

from annotate.drafting import replace_description
from annotate.linting import PlainItem, PlainTurn, Severity, lint_item
from annotate.linting.catalogue import rules
from tests.annotate.lint_cases import ASKED, PREMISES, REWRITES, TARGETS

QUESTIONS = (
    "How clearly can {} be seen?",
    "Which way does {} face?",
    "Is anything close to {}?",
    "How large does {} seem?",
    "Which half of {} is in the light?",
    "What might have brought {} here?",
    "What can be seen behind {}?",
    "How much of the picture does {} fill?",
    "What has just happened around {}?",
    "Is any part of {} hidden?",
)


def item(true, false, premise_class):
    """Ten questions about a description, the last seven rewritten as computed."""
    turns = []
    for number, question in enumerate(QUESTIONS, start=1):
        content = question.format(true)
        turns.append(PlainTurn(number, content, replace_description(content, true, false) if number > 3 else ""))
    return PlainItem(premise_class, true, false, tuple(turns))


def with_description(text):
    """An item whose description is this text; its premise adds a place, which any description can take."""
    return (
        item(text, f"{text} on the far side", "location") if text.strip() else replace(base(), target_description=text)
    )


def base():
    return item("the red car by the wall", "the blue car by the wall", "attribute")


def asking(true, content):
    """An item whose third question is this one."""
    if "red car" in true:
        return with_turn(item(true, true.replace("red", "blue", 1), "attribute"), 3, content=content)
    return with_turn(item(true, f"{true} on the far side", "location"), 3, content=content)


def with_turn(lint, number, **texts):
    return replace(lint, turns=tuple(replace(one, **texts) if one.number == number else one for one in lint.turns))


def text_of(lint, finding):
    if finding.field.endswith("description"):
        return getattr(lint, finding.field)
    return getattr(next(turn for turn in lint.turns if turn.number == finding.turn), finding.field)


def plainly(text):
    """The text with its rot13 words as they are spoken."""
    words = ("onfgneq", "ovgpu", "fuvg")
    return " ".join(codecs.decode(word, "rot13") if word.strip("?") in words else word for word in text.split(" "))


def check(code, severity, wrong, at, right):
    findings = [finding for finding in lint_item(wrong) if finding.code == code]
    assert findings, f"{code} kept silent; there were {[(f.code, f.message) for f in lint_item(wrong)]}"
    assert {finding.severity for finding in findings} == {Severity(severity)}
    if at is not None:
        marked = [text_of(wrong, finding)[slice(*finding.span)] for finding in findings]
        assert at in marked, f"{code} marked {marked}"
    spoken = [(finding.code, finding.message) for finding in lint_item(right)]
    assert [message for found, message in spoken if found == code] == []


@pytest.mark.parametrize("case", PREMISES, ids=lambda case: f"{case.code}: {case.wrong}")
def test_a_premise(case):
    wrong, right = (item(case.true, plainly(false), case.premise_class) for false in (case.wrong, case.right))
    check(case.code, case.severity, wrong, plainly(case.at), right)


@pytest.mark.parametrize("case", TARGETS, ids=lambda case: f"{case.code}: {case.wrong}")
def test_a_description(case):
    wrong, right = with_description(plainly(case.wrong)), with_description(case.right)
    check(case.code, case.severity, wrong, case.at and plainly(case.at), right)


@pytest.mark.parametrize("case", ASKED, ids=lambda case: f"{case.code}: {case.wrong}")
def test_a_question(case):
    wrong, right = asking(case.true, plainly(case.wrong)), asking(case.true, case.right)
    check(case.code, case.severity, wrong, case.at and plainly(case.at), right)


@pytest.mark.parametrize("case", REWRITES, ids=lambda case: f"{case.code}: {case.wrong}")
def test_a_rewritten_question(case):
    asked = with_turn(item(case.true, case.false, case.premise_class), 4, content=case.content)
    wrong, right = with_turn(asked, 4, modified=case.wrong), with_turn(asked, 4, modified=case.right)
    check(case.code, case.severity, wrong, case.at, right)


def test_there_are_at_least_120_cases_and_no_code_that_nobody_knows():
    cases = [*PREMISES, *TARGETS, *ASKED, *REWRITES]
    assert len(cases) >= 120
    assert len(set(cases)) == len(cases)
    assert {case.code for case in cases} <= {rule.code for rule in rules()}
