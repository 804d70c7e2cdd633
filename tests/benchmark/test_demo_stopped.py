"""A load of the demo that is stopped half-way goes on at the next one, and ends as whole as any."""

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Item, Label, LabelSet
from annotate.services import reviews
from benchmark.models import Detection, DetectorLabel, Dialogue, Response, Run
from benchmark.services import demo_house, demo_labels
from fpco_site.llm.engine import pump

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fast_engine")]


class Stopped(BaseException):
    """Like a Ctrl-C: no error handling may swallow it."""


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


def stop_at(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, call: int) -> None:
    """Break off at the nth call of a function."""
    real, calls = getattr(module, name), Counter[str]()

    def broken(**values: Any) -> Any:
        calls[name] += 1
        if calls[name] == call:
            raise Stopped
        return real(**values)

    monkeypatch.setattr(module, name, broken)


def stop_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break off while models are answering."""
    real = pump.run

    def broken(*, stop: pump.Stop) -> None:
        ended = threading.Event()

        def watch() -> None:
            from django.db import connection

            while not ended.wait(0.01) and Response.objects.count() < 60:
                pass
            stop.set()
            connection.close()

        watcher = threading.Thread(target=watch)
        watcher.start()
        real(stop=stop)
        ended.set()
        watcher.join()
        raise Stopped

    monkeypatch.setattr(pump, "run", broken)


@pytest.mark.parametrize("where", ["items", "engine", "labels"])
def test_a_load_that_was_stopped_ends_whole_at_the_next(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        if where == "items":
            stop_at(patch, reviews, "decide", call=7)
        elif where == "labels":
            stop_at(patch, demo_labels, "record", call=2)
        else:
            stop_engine(patch)
        with pytest.raises(Stopped):
            demo_house.load()
        assert demo_house.is_unfinished()
        assert not demo_house.is_loaded()

    demo_house.load()

    assert demo_house.is_loaded()
    assert Counter(Item.objects.values_list("state", flat=True)) == {"approved": 18, "in_review": 1, "draft": 1}
    assert sorted(Run.objects.values_list("state", flat=True)) == ["complete", "complete", "incomplete"]
    assert Dialogue.objects.count() == Detection.objects.count() / 2 == 54
    assert DetectorLabel.objects.count() == 2 * Response.objects.count()
    assert sorted(LabelSet.objects.values_list("name", flat=True)) == ["Main round", "Pilot"]
    assert Label.objects.filter(assignment__label_set__name="Pilot").count() == 72
