"""What can be set and what can be typed is written down, all of it."""

import re
from pathlib import Path

from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]


def read_by_the_code() -> set[str]:
    """Every variable that the code asks the environment for, by name."""
    asked = re.compile(r"\benv\.(?!setdefault|get)\w+\(\s*\"([A-Z][A-Z0-9_]+)\"")
    files = [path for part in ("fpco_site", "annotate", "benchmark") for path in (ROOT / part).rglob("*.py")]
    return {name for path in files for name in asked.findall(path.read_text())}


def test_the_example_environment_names_every_variable_that_the_code_reads():
    names = read_by_the_code()
    assert {"FPCO_DATA_DIR", "DATABASE_URL", "CELERY_BROKER_URL"} <= names
    listed = set(re.findall(r"^#([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert names - listed == set()


def test_every_command_of_ours_is_in_the_list_of_commands():
    ours = {name for name, app in get_commands().items() if app in {"annotate", "benchmark", "fpco_site.llm"}}
    assert "demo" in ours
    page = (ROOT / "docs" / "commands.md").read_text()
    assert {name for name in ours if f"`{name}" not in page} == set()


def test_the_pages_of_the_documentation_find_each_other():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    missing = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+\.md)[^)]*\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert missing == []
