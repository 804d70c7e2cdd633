"""The README that goes with a release."""

from typing import Any

from benchmark.releases import ADJUDICATIONS


def readme(facts: dict[str, Any], *, counts: dict[str, int], withheld: int = 0) -> str:
    """What the folder holds and how to check it, from the manifest's facts.

    `withheld` is of how many items the pixels are left out for their licence.
    """
    files = "\n".join(f"- `{name}`: {count:,} rows" for name, count in sorted(counts.items()))
    models = "\n".join(f"- {_named(run['model'], run)}" for run in facts["runs"]) or "- none yet"
    detectors = (
        "\n".join(f"- {_named(row['name'], row)} (`{row['slug']}`)" for row in facts["detectors"]) or "- none yet"
    )
    return f"""# {facts["dataset"]}

A multi-turn false-premise benchmark for vision-language models, with what models answered and how
detectors and people labelled it. Method: FPCO-Dialog, arXiv 2609.03331.

Dataset hash: `{facts["dataset_hash"]}`

## Files

{files}
- `tables/`: CorrTP@K, TurnCorr@K and CorrFP@K by model and class, from the labels in this folder
- `figures/`: the same as charts
- `prompts/`: the prompts that were sent
- `images/`: the pictures as every model saw them, named by the sha256 of their bytes
- `LICENSES.csv`: source, author and licence of each picture
- `manifest.json`: counts and sha256 of every file, settings, versions and dates

A turn without text has `response: null` and an `outcome` that says why. Detector labels: `detect`
is true where the answer corrects the premise (on turns with a true premise: where it needlessly
rejects it). Human annotators appear under pseudonyms.{_decisions(counts)}

## Models

{models}

## Detectors

{detectors}

## Checking it

`manage.py verify_release FOLDER` of FPCO Studio checks every hash, count and reference and makes
the tables again from the labels. The hashes alone can be checked with any sha256 tool.

## Licences

Each picture keeps the licence of its source, listed in `LICENSES.csv`.
{_left_out(withheld)}"""


def _decisions(counts: dict[str, int]) -> str:
    if ADJUDICATIONS not in counts:
        return ""
    return f"""
Where they differ, `{ADJUDICATIONS}` holds what was decided, and why: by them together, or by a third person."""


def _named(name: str, row: dict[str, Any]) -> str:
    return f"{name} (simulated: made offline, not by a real model)" if row.get("simulated") else name


def _left_out(withheld: int) -> str:
    if not withheld:
        return ""
    pictures = "one picture" if withheld == 1 else f"{withheld:,} pictures"
    return f"""
The pixels of {pictures} are left out, because the licence allows no derivatives or is not known (column
`pixels`). The rows keep source, landing page and both hashes: whoever gets the file from its source and
imports it into FPCO Studio can attach it to the dataset, where it is found by the hash of its bytes.
"""
