"""Analyses: asked for, run at once or by a worker, stored once for the same question about the same data."""

import logging
import math
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.models import F, prefetch_related_objects
from django.utils import timezone

from annotate.models import User
from benchmark.analyses import KINDS, digests
from benchmark.analyses.kinds import Kind, Parameters
from benchmark.models import Analysis, ResultSet
from benchmark.models.results import AnalysisState
from benchmark.services import versions
from fpco_site.errors import Conflict, FpcoError, Invalid
from fpco_site.llm.engine.hints import hint
from fpco_site.llm.engine.takeovers import Stop, Watch

log = logging.getLogger(__name__)
TASK = "benchmark.run_analyses"
SEED = 1
MOST = 2**62  # as a seed: a column holds it
TRIES = 3  # workers that may die over one analysis
_UNFINISHED = (AnalysisState.WAITING, AnalysisState.RUNNING)
_COMPUTES = ("numpy", "scipy", "pandas", "scikit-learn")

_watch = Watch()


# Asking -------------------------------------------------------------------------------------------------------------


def request(
    *,
    kind: str,
    result_set: ResultSet,
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    by: User | None,
) -> Analysis:
    """The stored analysis of this question about the data as they are now; run now where there is none.

    One that takes long waits for a worker. One that failed is tried again.

    Raises
    ------
    Invalid
        If there is no such kind or parameter, the seed can't be one, or there is nothing to analyse.
    """
    if seed is not None and not 0 <= seed <= MOST:
        raise Invalid(f"A seed is a whole number from 0 to {MOST}, not {seed}.")
    chosen = kind_of(kind)
    given = settle(chosen, result_set, parameters or {})
    inputs = chosen.read(result_set, given)
    row = _keep(chosen, result_set, given, (SEED if seed is None else seed) if chosen.random else None, inputs, by)
    if row.unfinished and chosen.long:
        hint(TASK)
    elif row.unfinished:  # nobody else's, or of a process that stands still
        run(analysis=row)
        row.refresh_from_db()
    return row


def kind_of(slug: str) -> Kind:
    """The kind of this name. Raises Invalid with those there are."""
    if slug not in KINDS:
        raise Invalid(f"There is no analysis {slug!r}; there are {', '.join(KINDS)}.")
    return KINDS[slug]


def choices(kind: Kind, result_set: ResultSet) -> dict[str, list[tuple[str, str]]]:
    """The values of each parameter that is one of few, with their names, for this result set."""
    if kind.choices_of is None:
        return kind.choices
    prefetch_related_objects([result_set], "runs__model", "detectors__detector")  # once for all kinds of a page
    return {**kind.choices, **kind.choices_of(result_set)}


def settle(kind: Kind, result_set: ResultSet, given: Mapping[str, Any]) -> Parameters:
    """All parameters with their values. Raises Invalid where one is unknown or can't have its value."""
    if unknown := sorted(set(given) - set(kind.defaults)):
        there = ", ".join(kind.defaults) or "none"
        raise Invalid(f"{kind.title} has no parameter {unknown[0]!r}; there are: {there}.")
    allowed = choices(kind, result_set)
    settled = {}
    for name, default in kind.defaults.items():
        value = _typed(name, given.get(name, default), default)
        known = [key for key, _ in allowed.get(name, [])]
        if name in allowed and value not in known:
            raise Invalid(f"{kind.names.get(name, name)} must be one of {', '.join(known)}, not {value!r}.")
        settled[name] = value
    return settled


def _typed(name: str, value: Any, default: Any) -> Any:
    """The value as the default's type, for forms and commands give text."""
    try:
        if isinstance(default, bool):
            return value if isinstance(value, bool) else {"yes": True, "no": False}[str(value)]
        typed = type(default)(value)
        if isinstance(typed, float) and not math.isfinite(typed):
            raise ValueError(typed)
        return typed
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise Invalid(f"{name} can't be {value!r}; it is something like {default!r}.") from error


@transaction.atomic
def _keep(
    kind: Kind, result_set: ResultSet, parameters: Parameters, seed: int | None, inputs: Any, by: User | None
) -> Analysis:
    """The row of this question, new where there is none; a failed one waits again."""
    found = digests.of_inputs(inputs)
    asked = digests.of_request(kind=kind.slug, version=kind.version, inputs=found, parameters=parameters, seed=seed)
    row, made = Analysis.objects.get_or_create(
        dataset_id=result_set.dataset_id,
        request_sha256=asked,
        defaults={
            "result_set": result_set,
            "kind": kind.slug,
            "inputs_sha256": found,
            "parameters": parameters,
            "seed": seed,
            "created_by": by,
        },
    )
    if not made and Analysis.objects.filter(pk=row.pk, state=AnalysisState.FAILED).update(
        state=AnalysisState.WAITING, error="", worker="", tries=0
    ):
        row.refresh_from_db()
    return row


def inputs_now(*, analysis: Analysis, result_set: ResultSet) -> str:
    """The hash of what an analysis would read now; empty where there is nothing to analyse any more."""
    try:
        return digests.of_inputs(kind_of(analysis.kind).read(result_set, analysis.parameters))
    except Invalid:
        return ""


# Running ------------------------------------------------------------------------------------------------------------


def run_waiting(*, stop: Stop | None = None) -> int:
    """Run every analysis that waits, and those whose worker stands still. Returns how many were run here."""
    done = 0
    for row in Analysis.objects.filter(state__in=_UNFINISHED).order_by("id"):
        if stop is not None and stop.asked:
            break
        done += run(analysis=row)
    return done


def run(*, analysis: Analysis) -> bool:
    """Run an analysis unless somebody else does; a failure is kept with its reason. Returns whether it was ours."""
    token = claim(analysis)
    if not token:
        return False
    mine = Analysis.objects.filter(pk=analysis.pk, worker=token, state=AnalysisState.RUNNING)
    try:
        with _beating(analysis.pk, token):
            result = _compute(analysis)
    except FpcoError as error:
        mine.update(state=AnalysisState.FAILED, error=error.message, worker="")
    except Exception as error:
        log.exception("Analysis %d could not be computed", analysis.pk)
        said = f"It could not be computed ({type(error).__name__}: {error})."
        mine.update(state=AnalysisState.FAILED, error=said, worker="")
    else:
        mine.update(
            state=AnalysisState.DONE,
            result=result,
            software=_software(analysis.kind),
            finished_at=timezone.now(),
            worker="",
        )
    return True


def claim(analysis: Analysis) -> str:
    """The name under which this process may run the analysis; blank where somebody else does, or it is over."""
    if analysis.worker and not _watch.stands_still(analysis):
        return ""
    held = Analysis.objects.filter(pk=analysis.pk, worker=analysis.worker, beat=analysis.beat, state__in=_UNFINISHED)
    if analysis.tries >= TRIES:
        said = f"{TRIES} workers ended while they ran it. Was there too little memory?"
        held.update(state=AnalysisState.FAILED, error=said, worker="")
        return ""
    token = str(uuid.uuid4())
    mine = held.update(state=AnalysisState.RUNNING, worker=token, beat=F("beat") + 1, tries=F("tries") + 1)
    return token if mine else ""


@contextmanager
def _beating(pk: int, token: str) -> Iterator[None]:
    """Bump the analysis's counter while it is computed, so that nobody takes it for a dead worker's."""
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(pk, token, over), name=f"analysis {pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _beat(pk: int, token: str, over: threading.Event) -> None:
    while not over.wait(float(settings.ENGINE["beat"])):
        try:
            Analysis.objects.filter(pk=pk, worker=token).update(beat=F("beat") + 1)
        except DatabaseError as error:
            log.warning("Analysis %d: its counter could not be bumped (%s); it is tried again", pk, error)
        finally:
            connections.close_all()


def _compute(analysis: Analysis) -> Any:
    kind = kind_of(analysis.kind)
    inputs = kind.read(analysis.result_set, analysis.parameters)
    if digests.of_inputs(inputs) != analysis.inputs_sha256:
        raise Conflict("The data changed after this was asked for and before it was run. Run it again.")
    return digests.plain(kind.run(inputs, analysis.parameters, np.random.default_rng(analysis.seed)))


def _software(kind: str) -> dict[str, str]:
    """Versions of what computed it."""
    return {
        versions.PROJECT: versions.installed()[versions.PROJECT],
        "python": python_version(),
        **{name: version(name) for name in _COMPUTES},
        f"analysis {kind}": str(kind_of(kind).version),
    }
