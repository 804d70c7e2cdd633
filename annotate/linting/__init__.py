"""What is wrong, or worth a look, in an item's texts: pure rules that explain themselves.

`lint_item` returns findings. An error blocks approval; a warning needs a tick. The rules are those
of the study's drafting prompts (arXiv 2609.03331): the description word for word, exactly once, in
every question; one short, local change of the fixed class; the rest of each question left alone; no
names, identifiers, offensive words or guesses of sensitive attributes. docs/linting.md lists them all.

Each module yields findings of one kind; word lists are in `words`, `labels` and `sensitive`, and what is
known of nouns in `nouns`.
"""

from annotate.linting.conduct import conduct_findings
from annotate.linting.premise import premise_findings
from annotate.linting.questions import question_findings
from annotate.linting.rewrites import rewrite_findings
from annotate.linting.types import STUDY_PLAN, Finding, PlainItem, PlainTurn, Plan, Severity, StudyPlan

__all__ = ["STUDY_PLAN", "Finding", "PlainItem", "PlainTurn", "Plan", "Severity", "StudyPlan", "blocking", "lint_item"]


def lint_item(item: PlainItem, plan: Plan = STUDY_PLAN) -> list[Finding]:
    """Everything there is to say about an item: about the whole first, then turn by turn.

    Parameters
    ----------
    item : PlainItem
        The texts as they stand; empty texts are findings, never exceptions.
    plan : Plan
        Number of turns and which of them are false; the study's by default.
    """
    findings = [
        *premise_findings(item, plan),
        *question_findings(item, plan),
        *rewrite_findings(item, plan),
        *conduct_findings(item),
    ]
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.turn or 0)


def blocking(findings: list[Finding]) -> list[Finding]:
    """Those that keep an item from being approved."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]
