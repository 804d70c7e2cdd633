"""The clock that tells workers to look after what waits."""

from pathlib import Path

import pytest
from celery.beat import Service
from celery.utils.imports import symbol_by_name
from django.conf import settings

from fpco_site.celery import app


def test_it_keeps_no_file_that_a_killed_worker_could_leave_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(settings.DATA_DIR.iterdir())
    clock = Service(app, scheduler_cls=symbol_by_name(app.conf.beat_scheduler)).get_scheduler()
    clock.sync()
    clock.close()
    assert set(clock.schedule) == set(settings.CELERY_BEAT_SCHEDULE)
    assert list(tmp_path.iterdir()) == []
    assert set(settings.DATA_DIR.iterdir()) == before
