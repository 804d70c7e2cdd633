"""Building and taking away a release in the browser, and who may."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.services import datasets
from benchmark.models import Exposure, Release
from benchmark.services import releases
from benchmark.tasks import build_releases
from fpco_site.errors import Conflict
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]


@pytest.fixture
def pilot(ada: User) -> int:
    factories.item(state="approved")
    dataset = datasets.freeze(name="Pilot", by=ada)
    run = factories.run(dataset=dataset, answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), run, True)
    factories.detector_labels(factories.detector("lenient"), run, False)
    return dataset.pk


def test_an_author_asks_a_worker_builds_and_a_reader_takes_it_away(as_: As, ada: User, rita: User, pilot: int) -> None:
    as_(ada).post(reverse("release_new"), {"dataset": pilot})
    release = Release.objects.get()
    assert release.state == "waiting"
    build_releases()
    release.refresh_from_db()
    assert (release.state, release.error) == ("ready", "")
    assert release.sizes == [1, 10, 20, 0]
    page = as_(rita).get(reverse("release_detail", args=[release.pk]))
    assert release.manifest_sha256 in page.content.decode()
    answer = as_(rita).get(reverse("release_download", args=[release.pk]))
    names = zipfile.ZipFile(BytesIO(b"".join(answer))).namelist()  # type: ignore[arg-type]
    assert f"{release.folder}/manifest.json" in names
    assert Exposure.objects.filter(person=rita, page="release_download", withheld=False).exists()


def test_one_release_of_a_dataset_is_built_at_a_time(ada: User, pilot: int) -> None:
    dataset = Dataset.objects.get(pk=pilot)
    releases.request(dataset=dataset, by=ada)
    with pytest.raises(Conflict, match="being built already"):
        releases.request(dataset=dataset, by=ada)


def test_a_killed_workers_release_is_taken_up_again_by_the_next(as_: As, ada: User, pilot: int, settings: Any) -> None:
    lost = Release.objects.create(dataset_id=pilot, built_by=ada, state="building", worker="gone", beat=3, tries=1)
    left = settings.DATA_DIR / "releases" / ".building" / f"{lost.pk}-half"
    left.mkdir(parents=True)
    assert releases.build_waiting() == 0  # it may be alive
    assert as_(ada).post(reverse("release_again", args=[lost.pk])).status_code == 409
    settings.ENGINE = {**settings.ENGINE, "stale": 0.0}
    assert releases.build_waiting() == 1
    lost.refresh_from_db()
    assert (lost.state, lost.tries, lost.worker) == ("ready", 2, "")
    assert list(left.parent.iterdir()) == []
    assert as_(ada).get(reverse("release_download", args=[lost.pk])).status_code == 200
    assert as_(ada).post(reverse("release_again", args=[lost.pk])).status_code == 409


def test_a_failure_is_kept_with_its_reason(ada: User, pilot: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> str:
        raise OSError("No space left on device")

    monkeypatch.setattr("benchmark.services.release_export.export", full)
    Release.objects.create(dataset_id=pilot, built_by=ada)
    releases.build_waiting()
    assert Release.objects.get().error == "The files could not be written: No space left on device."


def test_an_author_who_labels_gets_no_release(as_: As, ada: User, ben: User, pilot: int) -> None:
    dataset = Dataset.objects.get(pk=pilot)
    release = releases.request(dataset=dataset, by=ben)
    releases.build_waiting()
    factories.label_set(dataset, [ada])
    answer = as_(ada).get(reverse("release_download", args=[release.pk]))
    assert answer.status_code == 403
    assert Exposure.objects.filter(person=ada, withheld=True).exists()
    assert as_(ada).get(reverse("release_list")).status_code == 200


@pytest.mark.parametrize("name", ["release_list", "release_detail", "release_download"])
def test_annotators_find_no_releases(as_: As, lea: User, ada: User, pilot: int, name: str) -> None:
    release = Release.objects.create(dataset_id=pilot, built_by=ada)
    args = [] if name == "release_list" else [release.pk]
    assert as_(lea).get(reverse(name, args=args)).status_code == 404


def test_readers_build_nothing(as_: As, rita: User, pilot: int) -> None:
    assert as_(rita).post(reverse("release_new"), {"dataset": pilot}).status_code == 404
    assert not Release.objects.exists()
