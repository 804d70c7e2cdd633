"""Analyses: asked for, run at once or by a worker, stored once for the same question about the same data."""

import math
from collections.abc import Mapping
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone

from annotate.models import User
from benchmark.analyses import KINDS, digests
from benchmark.analyses.kinds import Kind, Parameters
from benchmark.models import Analysis, ResultSet
from benchmark.models.results import AnalysisState
from benchmark.services import versions
from benchmark.services.building import Made, Work
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm.engine.hints import hint
from fpco_site.llm.engine.takeovers import Stop

TASK = "benchmark.run_analyses"
SEED = 1
SHOWN = 60  # characters of a value that is refused
MOST = 2**62  # as a seed: a column holds it
_COMPUTES = ("numpy", "scipy", "pandas", "scikit-learn")

_work = Work(Analysis, working=AnalysisState.RUNNING, does="ran", done="computed")


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
        raise Invalid(f"There is no analysis {_said(slug)}; there are {', '.join(KINDS)}.")
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
        raise Invalid(f"{kind.title} has no parameter {_said(unknown[0])}; there are: {there}.")
    allowed = choices(kind, result_set)
    settled = {}
    for name, default in kind.defaults.items():
        value = _typed(name, given.get(name, default), default)
        known = [key for key, _ in allowed.get(name, [])]
        if name in allowed and value not in known:
            raise Invalid(f"“{kind.names.get(name, name)}” must be one of {', '.join(known)}, not {_said(value)}.")
        least, most = kind.limits.get(name, (-math.inf, math.inf))
        if name in kind.limits and not least <= value <= most:
            raise Invalid(f"“{kind.names.get(name, name)}” must be from {least:,} to {most:,}, not {_said(value)}.")
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
        raise Invalid(f"{name} can't be {_said(value)}; it is something like {default!r}.") from error


def _said(value: Any) -> str:
    """A value in a sentence, of which the beginning is enough."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


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
    return _work.run_waiting(_compute, stop=stop)


def run(*, analysis: Analysis) -> bool:
    """Run an analysis unless somebody else does; a failure is kept with its reason. Returns whether it was ours."""
    return _work.run(analysis, _compute)


def _compute(analysis: Analysis) -> Made:
    kind = kind_of(analysis.kind)
    inputs = kind.read(analysis.result_set, analysis.parameters)
    if digests.of_inputs(inputs) != analysis.inputs_sha256:
        raise Conflict("The data changed after this was asked for and before it was run. Run it again.")
    result = digests.plain(kind.run(inputs, analysis.parameters, np.random.default_rng(analysis.seed)))
    software, now = _software(analysis.kind), timezone.now()
    return Made({"state": AnalysisState.DONE, "result": result, "software": software, "finished_at": now})


def _software(kind: str) -> dict[str, str]:
    """Versions of what computed it."""
    return {
        versions.PROJECT: versions.installed()[versions.PROJECT],
        "python": python_version(),
        **{name: version(name) for name in _COMPUTES},
        f"analysis {kind}": str(kind_of(kind).version),
    }
