"""A release leaves the pixels out that its pictures' licences don't let anybody pass on."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotate.models import Dataset, Image, User
from annotate.services import datasets, images
from benchmark.services import release_export, releases
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.db]
BY = {"license": "CC BY 2.0", "license_url": "https://creativecommons.org/licenses/by/2.0/"}
ND = {"license": "CC BY-ND 2.0", "license_url": "https://creativecommons.org/licenses/by-nd/2.0/"}
NONE = {"license": "", "license_url": "", "landing_url": "https://example.org/a-page"}


def photo(facts: dict[str, str]) -> Image:
    image = images.import_file(data=factories.jpeg(), name="a.jpg", by=None).image
    Image.objects.filter(pk=image.pk).update(**facts)
    image.refresh_from_db()
    return image


@pytest.fixture
def pilot() -> dict[str, Any]:
    """A frozen dataset of an open, a NoDerivatives and an unlicensed picture."""
    made = {name: photo(facts) for name, facts in (("by", BY), ("nd", ND), ("none", NONE))}
    for image in made.values():
        factories.item(image=image, state="approved")
    return {**made, "dataset": datasets.freeze(name="Pilot", by=None)}


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "items.jsonl").read_text().splitlines()
    return {row["license"]: row for row in map(json.loads, lines)}


def test_only_open_pixels_leave_and_the_rest_stays_whole(pilot: dict[str, Any], tmp_path: Path) -> None:
    release_export.export(dataset=pilot["dataset"], folder=tmp_path / "out")
    names = [path.name for path in (tmp_path / "out" / "images").iterdir()]
    assert names == [f"{pilot['by'].sha256}.jpg"]
    rows = rows_of(tmp_path / "out")
    assert rows["CC BY 2.0"]["image"] == names[0]
    for name, key in (("nd", "CC BY-ND 2.0"), ("none", "")):
        image = pilot[name]
        assert rows[key]["image"] is None
        assert (rows[key]["sha256"], rows[key]["original_sha256"]) == (image.sha256, image.original_sha256)
    assert rows[""]["landing_url"] == "https://example.org/a-page"
    with (tmp_path / "out" / "LICENSES.csv").open(newline="") as file:
        pixels = {row["license"]: row["pixels"] for row in csv.DictReader(file)}
    assert pixels == {
        "CC BY 2.0": "included",
        "CC BY-ND 2.0": "left out: no derivatives",
        "": "left out: licence unknown",
    }
    assert "The pixels of 2 pictures are left out" in (tmp_path / "out" / "README.md").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["dataset_hash"] == pilot["dataset"].dataset_hash


def test_such_a_release_is_whole_and_pixels_are_attached_by_their_hash(pilot: dict[str, Any], tmp_path: Path) -> None:
    release_export.export(dataset=pilot["dataset"], folder=tmp_path / "out")
    releases.verify(folder=tmp_path / "out")
    releases.import_folder(folder=tmp_path / "out", name="Back", by=None)
    back = Dataset.objects.get(name="Back")
    assert back.dataset_hash == pilot["dataset"].dataset_hash
    assert back.items.filter(image=None).count() == 2
    assert datasets.attach_images(dataset=back) == 2
    release_export.export(dataset=back, folder=tmp_path / "again")
    assert len(list((tmp_path / "again" / "images").iterdir())) == 1


def test_an_older_dataset_that_names_such_a_file_lets_no_pixels_out_either(tmp_path: Path) -> None:
    image = photo(ND)
    dataset = factories.dataset(items=1)
    dataset.items.update(image=image)
    release_export.export(dataset=dataset, folder=tmp_path / "out")
    assert not (tmp_path / "out" / "images").exists()
    releases.verify(folder=tmp_path / "out")


def test_a_licence_that_is_mended_later_counts_from_the_next_freezing_on(
    pilot: dict[str, Any], tmp_path: Path, ada: User
) -> None:
    images.update_facts(image=pilot["nd"], facts=BY, by=ada)
    release_export.export(dataset=pilot["dataset"], folder=tmp_path / "old")
    assert [path.stem for path in (tmp_path / "old" / "images").iterdir()] == [pilot["by"].sha256]
    release_export.export(dataset=datasets.freeze(name="Pilot 2", by=ada), folder=tmp_path / "new")
    found = {path.stem for path in (tmp_path / "new" / "images").iterdir()}
    assert found == {pilot["by"].sha256, pilot["nd"].sha256}


def test_an_item_whose_original_is_not_known_gets_no_other_items_picture() -> None:
    dataset = factories.dataset(items=0)
    image = images.import_stored(data=factories.jpeg(), name="a.jpg", by=None).image
    assert image.original_sha256 == ""
    mine = factories.dataset_item(dataset, image=None, sha256=image.sha256)
    other = factories.dataset_item(dataset, image=None, sha256="f" * 64)
    assert datasets.attach_images(dataset=dataset) == 1
    assert dict(dataset.items.values_list("pk", "image")) == {mine.pk: image.pk, other.pk: None}
