"""Analyses: one module a kind, `KINDS` the register of all of them by slug.

A kind reads its inputs (rows to arrays), computes (arrays to a plain result, `benchmark.statistics` does the
work) and words its result. `benchmark.services.analyses` stores results; pages and files show what is stored.
"""

from benchmark.analyses import (
    comparisons,
    corrected,
    intervals,
    lexical,
    over_correction,
    persistence,
    repeat_runs,
    self_scoring,
    stratified,
    truncation,
)
from benchmark.analyses.kinds import Kind

# In the order of the page.
KINDS: dict[str, Kind] = {
    kind.slug: kind
    for kind in (
        intervals.KIND,
        comparisons.KIND,
        self_scoring.KIND,
        truncation.KIND,
        stratified.KIND,
        persistence.KIND,
        over_correction.KIND,
        repeat_runs.KIND,
        lexical.KIND,
        corrected.KIND,
    )
}
