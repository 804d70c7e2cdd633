"""Settings that are made when they are first needed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from fpco_site import env


def test_processes_that_start_together_agree_on_one_secret(tmp_path: Path) -> None:
    for number in range(50):
        path = tmp_path / f"secret-{number}"
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(lambda _, path=path: env.secret("FPCO_NO_SUCH_KEY", path), range(8)))
        assert found == {path.read_text()}
        assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.iterdir())) == 50  # nothing else stays


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("")
    with pytest.raises(ImproperlyConfigured, match="is empty: remove it, or set FPCO_NO_SUCH_KEY"):
        env.secret("FPCO_NO_SUCH_KEY", tmp_path / "secret")
