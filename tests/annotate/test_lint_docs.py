"""docs/linting.md lists the codes that the code has, each of which a test makes it say."""

import ast
from pathlib import Path

from annotate import linting
from annotate.linting.catalogue import as_markdown, rules
from tests.annotate.lint_cases import ASKED, PREMISES, REWRITES, TARGETS
from tests.annotate.test_linting import RULES

ROOT = Path(__file__).parents[2]
MAKERS = {"error", "warning", "make", "Mark", "Found"}
CONSTANTS = {"SENSITIVE": "sensitive_attribute", "JUDGING": "judging_word", "ASKING": "sensitive_question"}
CONSTANTS |= {"CODE": "answer_given"}


def codes_made():
    """The first argument of each call that makes a finding."""
    for file in Path(linting.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS):
                continue
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield first.value
            elif isinstance(first, ast.Name) and first.id.isupper():
                yield CONSTANTS[first.id]


def test_the_page_shows_the_catalogue():
    page = (ROOT / "docs" / "linting.md").read_text(encoding="utf-8")
    assert page.endswith(as_markdown()), "make the tables anew: annotate.linting.catalogue.as_markdown()"


def test_the_catalogue_has_each_code_once_and_no_other():
    codes = [rule.code for rule in rules()]
    assert len(set(codes)) == len(codes)
    assert set(codes) == set(codes_made())


def test_each_code_has_a_case():
    tried = {case.code for case in (*PREMISES, *TARGETS, *ASKED, *REWRITES)} | {rule[0] for rule in RULES}
    assert {rule.code for rule in rules()} - tried == set()
