# /// script
# requires-python = ">=3.12"
# dependencies = ["ppi-python==0.2.3"]
# ///
"""Records what ppi-python says of made samples, one a line of tests/data/ppi_python.jsonl.

`uv run --no-project tests/data/ppi_python.py > tests/data/ppi_python.jsonl`

It brings a compiler of 190 MB and takes many seconds to import, so that it runs in an environment of its own. Each case
is a sample of answers, counted by (truth, score, weight), and the scores of the answers that nobody labelled. `tuned`
is PPI++, `low` and `high` its interval at lambda 0.7, `plain` PPI over all answers, labelled ones too, and `weighted`
PPI with the weights over the unlabelled ones alone.
"""

import json
import sys
from collections import Counter

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

CASES = 60
SCORES = np.array([0.0, 0.5, 1.0])


def main() -> None:
    rng = np.random.default_rng(2311)
    for _ in range(CASES):
        sys.stdout.write(json.dumps(case(rng), separators=(",", ":")) + "\n")


def case(rng: np.random.Generator) -> dict[str, object]:
    labelled, apart = int(rng.integers(20, 400)), int(rng.integers(500, 5000))
    rate, hit, slip = rng.uniform(0.1, 0.9), rng.uniform(0.6, 0.9), rng.uniform(0.1, 0.3)
    truth = (rng.random(labelled + apart) < rate).astype(float)
    seen = rng.random((2, truth.size)) < np.where(truth == 1, hit, slip)
    score = seen.mean(axis=0)
    weight = np.where(rng.random(labelled) < 0.5, 1.0, 3.0)
    y, f, others = truth[:labelled], score[:labelled], score[labelled:]
    share = apart / (labelled + apart)  # the lambda with which all answers together count 1
    low, high = ppi_mean_ci(y, f, others, alpha=0.05, lam=0.7)
    return {
        "labelled": counted(zip(y, f, weight, strict=True)),
        "unlabelled": counted((one,) for one in others),
        "tuned": float(np.squeeze(ppi_mean_pointestimate(y, f, others))),
        "low": float(np.squeeze(low)),
        "high": float(np.squeeze(high)),
        "plain": float(np.squeeze(ppi_mean_pointestimate(y, f, others, lam=share))),
        "weighted": float(np.squeeze(ppi_mean_pointestimate(y, f, others, lam=1, w=weight))),
    }


def counted(rows: object) -> list[list[float]]:
    return [[*(float(part) for part in key), count] for key, count in sorted(Counter(rows).items())]


main()
