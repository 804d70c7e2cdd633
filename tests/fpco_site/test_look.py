"""The look: files of others are what they were, and the navigation shows to each what they may open."""

import hashlib
import json

import pytest
from django.conf import settings

VENDOR = settings.BASE_DIR / "static" / "vendor"
FILES = [
    (entry["path"], entry["sha256"])
    for package in json.loads((VENDOR / "vendor.json").read_text())["packages"]
    for entry in package["files"]
]


@pytest.mark.parametrize(("path", "sha256"), FILES)
def test_a_vendored_file_is_what_the_record_says(path: str, sha256: str) -> None:
    assert hashlib.sha256((VENDOR / path).read_bytes()).hexdigest() == sha256


def test_every_vendored_file_is_on_record() -> None:
    kept = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    assert kept == {path for path, _ in FILES} | {"vendor.json"}


def test_no_vendored_file_points_to_a_source_map_that_is_not_here() -> None:
    assert [path for path, _ in FILES if b"sourceMappingURL=" in (VENDOR / path).read_bytes()] == []
