"""One bad row fails alone; a provider that answers nobody fails no row."""

import pytest

from fpco_site.llm.engine import pause_reason
from fpco_site.llm.engine.faults import Fault, Group
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError

BROKEN = ProviderError(ErrorKind.TRANSIENT, "It broke.", status=500)
LOST = ProviderError(ErrorKind.TRANSIENT, "The connection failed.", code="connection")
REFUSED = ProviderError(ErrorKind.PERMANENT, "A bad picture.", status=400)
WRONG_KEY = ProviderError(ErrorKind.PERMANENT, "Wrong key.", status=401)
BAD, GOOD, OTHER = 1, 2, 3


def last(group: Group, row: int, error: ProviderError) -> Fault:
    group.failed(row, error)
    return group.judge(row, error)


def answered(*rows: int) -> Group:
    group = Group()
    for row in rows:
        group.answered(row)
    return group


@pytest.mark.parametrize("error", [BROKEN, LOST])
def test_others_that_are_answered_meanwhile_show_whose_trouble_it_is(error: ProviderError) -> None:
    group = answered(GOOD)
    group.failed(BAD, error)
    group.answered(GOOD)
    assert last(group, BAD, error) is Fault.OWN


@pytest.mark.parametrize("error", [BROKEN, LOST, REFUSED])
def test_alone_it_is_asked_again_after_all_others_and_then_judged(error: ProviderError) -> None:
    group = answered(GOOD)
    assert last(group, BAD, error) is Fault.UNCLEAR
    assert set(group.aside) == {BAD}
    group.answered(GOOD)
    assert last(group, BAD, error) is Fault.OWN
    assert not group.aside


@pytest.mark.parametrize("error", [BROKEN, LOST, REFUSED])
def test_two_without_an_answer_between_are_everybodys(error: ProviderError) -> None:
    group = answered(GOOD)
    assert last(group, BAD, error) is Fault.UNCLEAR
    assert last(group, OTHER, error) is Fault.EVERYBODYS
    assert not group.aside, "After a pause all begin anew."


def test_a_refused_picture_beside_a_passing_trouble_is_not_everybodys() -> None:
    group = answered(GOOD)
    group.failed(OTHER, BROKEN)
    assert last(group, BAD, REFUSED) is Fault.UNCLEAR


@pytest.mark.parametrize("error", [BROKEN, LOST])
def test_where_nobody_was_ever_answered_the_only_row_pauses(error: ProviderError) -> None:
    group = Group()
    assert last(group, BAD, error) is Fault.UNCLEAR
    assert last(group, BAD, error) is Fault.EVERYBODYS


def test_where_nobody_was_ever_answered_a_refusal_pauses_at_once() -> None:
    assert last(Group(), BAD, REFUSED) is Fault.EVERYBODYS


def test_the_last_row_of_all_fails_by_itself_unless_there_is_no_connection() -> None:
    for error, fault in ((BROKEN, Fault.OWN), (LOST, Fault.EVERYBODYS)):
        group = answered(GOOD)
        assert last(group, BAD, error) is Fault.UNCLEAR
        assert last(group, BAD, error) is fault


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (WRONG_KEY, "Check the key in A_KEY"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=400, code="API_KEY_INVALID"), "Check the key in A_KEY"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=400, code="model_not_found"), "Check that gpt-9 exists"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=404), "Check that gpt-9 exists"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=308), "Check the address"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=429, code="insufficient_quota"), "Add credit"),
        (ProviderError(ErrorKind.PERMANENT, "No.", status=429, code="daily_quota", retry_after=7e4), "Add credit"),
        (ProviderError(ErrorKind.RATE_LIMITED, "No.", status=429, retry_after=1500), "alone for 25 minutes: resume"),
        (ProviderError(ErrorKind.TRANSIENT, "No.", status=503, retry_after=9e4), "alone for 25 hours: resume"),
        (ProviderError(ErrorKind.RATE_LIMITED, "No.", status=429, retry_after=1e6), "alone for 12 days: resume"),
    ],
)
def test_one_call_is_enough_to_know_what_no_other_call_would_mend(error: ProviderError, words: str) -> None:
    assert last(answered(GOOD), BAD, error) is Fault.EVERYBODYS
    assert words in pause_reason(error, Endpoint("openai", "gpt-9", api_key_env="A_KEY"))
