"""A worker that is killed in the middle of an import loses nothing and imports nothing twice."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotate.models import Image, ImportBatch, User
from annotate.services import imports
from tests import factories, services
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]
FILES, KILLS = 240, 2


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[Celery]:
    with ExitStack() as stack:
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        worker = Celery(broker, tmp_path)
        stack.callback(worker.end)
        yield worker


def test_killed_in_the_middle_it_goes_on_and_imports_no_file_twice(ada: User, celery: Celery, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:03}.jpg").write_bytes(factories.photograph(number, size=(320, 240)))
    batch = imports.begin_folder(folder=folder, table=None, by=ada)
    for kill in range(KILLS):
        celery.start()
        goal = FILES * (kill + 1) // (KILLS + 2)
        until(lambda goal=goal: batch.files.exclude(outcome="waiting").count() >= goal, celery)  # type: ignore[misc]
        celery.kill()
        assert batch.files.filter(outcome="waiting").exists()
    done = dict(batch.files.exclude(outcome="waiting").values_list("path", "image"))
    celery.start()
    until(lambda: ImportBatch.objects.get().state == "complete", celery)
    assert celery.terminate() == 0
    fates = list(batch.files.values_list("path", "outcome", "image"))
    assert [outcome for _, outcome, _ in fates] == ["added"] * FILES
    assert len({image for _, _, image in fates}) == FILES == Image.objects.count()
    assert done.items() <= {path: image for path, _, image in fates}.items()
