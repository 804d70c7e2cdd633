"""Connection tests: asked for, and what an author decides about the settings that were refused."""

from collections.abc import Collection
from typing import Any

from django.db import IntegrityError, transaction

from annotate.models import Drafter, User
from annotate.services import drafters
from benchmark.models import ConnectionTest, Detector, EvaluatedModel
from benchmark.models.connections import SUBJECTS, TestState
from benchmark.services import detectors, models
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import engine
from fpco_site.llm.connection import refusals, sight
from fpco_site.llm.providers import names

type Subject = EvaluatedModel | Detector | Drafter
OPEN = (TestState.WAITING, TestState.RUNNING)
MOST_CALLS = 3  # of a test without surprises: two, and one more for a setting that is refused


def request(*, subject: Subject, by: User | None) -> ConnectionTest:
    """A test of this model, detector or drafter as it is now; the one that is open already where there is one.

    Raises Invalid for one that can't be asked at all: imported, or with a provider that isn't known.
    """
    _check(subject)
    kind = kind_of(subject)
    found = ConnectionTest.objects.filter(**{kind: subject}, state__in=OPEN).first()
    if found is None:
        found = _made(kind, subject, by)
    engine.hint_for(subject.provider)
    return found


@transaction.atomic
def request_all(*, subjects: Collection[Subject], by: User | None) -> list[ConnectionTest]:
    """A test of each. Raises Invalid where one can't be asked at all."""
    return [request(subject=subject, by=by) for subject in subjects]


@transaction.atomic
def leave_out(*, test: ConnectionTest, name: str, by: User) -> Subject:
    """Send a setting that the test found refused no more, with the provider's words as the reason.

    The token cap may be sent by its other name instead (`cap_field`). A detector becomes a new version, as it
    is asked otherwise from now on. Raises Conflict where the test found no such refusal.
    """
    if name not in test.refused:
        raise Conflict(f"The test did not find that {name!r} is refused.")
    subject = test.subject
    if name == refusals.CAP_FIELD:
        other = refusals.other_field(test.settings["options"])
        return _changed(subject, {"options": {**subject.options, refusals.CAP_FIELD: other}}, by)
    return _changed(subject, {"not_sent": {**subject.not_sent, name: test.refused[name]}}, by)


@transaction.atomic
def send_again(*, subject: Subject, name: str, by: User) -> Subject:
    """Send a setting again that was left out. Raises Conflict where it isn't."""
    if name not in subject.not_sent:
        raise Conflict(f"{name!r} is not left out.")
    kept = {other: reason for other, reason in subject.not_sent.items() if other != name}
    return _changed(subject, {"not_sent": kept}, by)


def kind_of(subject: Subject) -> str:
    """model, detector or drafter."""
    kinds: dict[type[Any], str] = {EvaluatedModel: SUBJECTS[0], Detector: SUBJECTS[1], Drafter: SUBJECTS[2]}
    return kinds[type(subject)]


def _made(kind: str, subject: Subject, by: User | None) -> ConnectionTest:
    try:
        with transaction.atomic():
            return ConnectionTest.objects.create(
                **{kind: subject}, settings=subject.settings(), shown=sight.fresh().as_json(), requested_by=by
            )
    except IntegrityError:  # a second click came first
        return ConnectionTest.objects.filter(**{kind: subject})[0]


def _check(subject: Subject) -> None:
    if getattr(subject, "imported", False):
        raise Invalid(f"{subject} is known from a release only: give it a provider before you test it.")
    if subject.provider not in names():
        raise Invalid(f"{subject} has a provider that this installation does not have.")


def _changed(subject: Subject, values: dict[str, Any], by: User) -> Subject:
    if isinstance(subject, EvaluatedModel):
        return models.update(model=subject, by=by, **values)
    if isinstance(subject, Drafter):
        return drafters.update(drafter=subject, by=by, **values)
    return detectors.ask_otherwise(detector=subject, by=by, **values)
