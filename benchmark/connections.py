"""Where each model, detector and drafter stands by its newest connection test. Reads only; nothing of a dataset."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum

from annotate.models import Drafter
from benchmark.models import ConnectionTest, Detector, EvaluatedModel
from benchmark.models.connections import SUBJECTS, TestState, Verdict
from benchmark.services.connections import Subject, kind_of
from fpco_site.llm import providers
from fpco_site.llm.connection import refusals
from fpco_site.llm.endpoints import is_local, is_simulated, key_of

GREEN = ("passed", "simulated")
WORDS = {
    "key": "Key",
    "address": "Address",
    "model": "Model",
    "picture": "Picture",
    "history": "Second turn",
    "labels": "Labels as JSON",
    "settings": "Settings",
    "tokens": "Tokens",
    "reasoning": "Reasoning",
    "cache": "Cache",
    "price": "Prices",
}


@dataclass(frozen=True)
class Standing:
    """A model, detector or drafter and its newest test.

    `state`: untested, waiting, running, passed, simulated, undecided (a setting is refused and nobody has
    decided), failed, outdated (its settings changed since). `undecided` has the settings to decide on.
    """

    subject: Subject
    kind: str
    test: ConnectionTest | None
    state: str
    undecided: dict[str, str] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        return is_simulated(self.subject.provider)

    @property
    def key(self) -> tuple[str, bool]:
        """The variable of its key and whether it is set here; ("", True) where none is needed."""
        return key_of(self.subject)

    @property
    def open(self) -> bool:
        return self.state in (TestState.WAITING, TestState.RUNNING)

    @property
    def sentence(self) -> str:
        """What there is to know, in one sentence or two."""
        if self.test is None:
            return "Not tested yet."
        if self.state == TestState.WAITING and is_local(self.subject.provider):
            return "Waits for a worker for local models (celery -A fpco_site worker --queues local)."
        if self.open:
            return "Waits for a worker." if self.state == TestState.WAITING else "Is being asked now."
        if self.state == "outdated":
            return "Its settings changed since the test: test it again."
        bad = [check["words"] for check in self.test.checks if check["mark"] == "bad"]
        if bad:
            return str(bad[0])
        if self.undecided:
            return f"It refuses {words_of(self.undecided)}. Leave it out, or change the setting and test again."
        if self.state == "simulated":
            return "Simulated: it answers offline, so there is nothing to connect to, and no picture is seen."
        return _green(self.test, self.subject)


def standing(subject: Subject) -> Standing:
    """DB. Of one."""
    return standings([subject])[0]


def standings(subjects: Iterable[Subject]) -> list[Standing]:
    """DB. Of many of one kind or several, in their order; one query a kind."""
    rows = list(subjects)
    newest = _newest(rows)
    return [_standing(row, newest.get((kind_of(row), row.pk))) for row in rows]


def testable() -> dict[str, list[Subject]]:
    """DB. All that can be asked: active models, the newest version of each detector, active drafters."""
    known = providers.names()
    latest = Detector.objects.order_by().values("slug").annotate(newest=Max("pk")).values("newest")
    rows: dict[str, QuerySet[Any]] = {
        "model": EvaluatedModel.objects.filter(active=True, imported=False).order_by("family", "name"),
        "detector": Detector.objects.filter(pk__in=latest, active=True, imported=False).order_by("slug"),
        "drafter": Drafter.objects.filter(active=True).order_by("name"),
    }
    return {kind: list(found.filter(provider__in=known)) for kind, found in rows.items()}


def untested(models: Iterable[EvaluatedModel]) -> list[Standing]:
    """DB. Those of these models whose newest test isn't green or isn't of their settings; simulated ones never."""
    rows = [model for model in models if not is_simulated(model.provider)]
    return [found for found in standings(rows) if found.state not in GREEN]


def spent() -> tuple[int, Decimal]:
    """DB. Calls of all tests and what they cost in US dollars, as far as prices are known."""
    sums = ConnectionTest.objects.aggregate(calls=Sum("calls_made"), dollars=Sum("cost"), tests=Count("pk"))
    return sums["calls"] or 0, sums["dollars"] or Decimal(0)


def words_of(refused: Iterable[str]) -> str:
    """Settings by the names that people know them by."""
    return " and ".join("max_tokens" if name == refusals.CAP_FIELD else name for name in refused)


def _newest(rows: Sequence[Subject]) -> dict[tuple[str, int], ConnectionTest]:
    found: dict[tuple[str, int], ConnectionTest] = {}
    for kind in SUBJECTS:
        ids = [row.pk for row in rows if kind_of(row) == kind]
        if ids:
            tests = ConnectionTest.objects.filter(**{f"{kind}__in": ids}).newest_of(kind)
            found |= {(kind, pk): test for pk, test in tests.items()}
    return found


def _standing(subject: Subject, test: ConnectionTest | None) -> Standing:
    kind = kind_of(subject)
    if test is None:
        return Standing(subject, kind, None, "untested")
    if test.state != TestState.DONE:
        return Standing(subject, kind, test, test.state)
    now = subject.settings()
    if _apart(now, test.refused) != _apart(test.settings, test.refused):
        return Standing(subject, kind, test, "outdated")
    undecided = {name: reason for name, reason in test.refused.items() if not _decided(name, now, test.settings)}
    state = "undecided" if undecided and test.verdict == Verdict.PASSED else test.verdict
    return Standing(subject, kind, test, state, undecided)


def _apart(settings: dict[str, Any], refused: dict[str, str]) -> dict[str, Any]:
    """Settings without what an author may decide on because of this test."""
    left_out = {name for name in settings.get("not_sent", {}) if name not in refused}
    options = dict(settings.get("options", {}))
    if refusals.CAP_FIELD in refused:
        options.pop(refusals.CAP_FIELD, None)
    return {**settings, "not_sent": sorted(left_out), "options": options}


def _decided(name: str, now: dict[str, Any], tested: dict[str, Any]) -> bool:
    if name == refusals.CAP_FIELD:
        return bool(now["options"].get(name) == refusals.other_field(tested["options"]))
    return name in now["not_sent"]


def _green(test: ConnectionTest, subject: Subject) -> str:
    untold = [WORDS[check["name"]].lower() for check in test.checks if check["mark"] == "untold"]
    left_out = f" {words_of(subject.not_sent)} is left out, as was confirmed." if subject.not_sent else ""
    rest = f" Not told: {', '.join(untold)}." if untold else ""
    return f"Everything that was asked holds.{left_out}{rest}"
