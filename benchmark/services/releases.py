"""Releases: built in the background, imported whole, checked by anyone."""

import json
import shutil
import uuid
import zipfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotate import records
from annotate.models import Dataset, User
from benchmark import frames, tables
from benchmark.models import Release
from benchmark.models.releases import BuildState
from benchmark.releases import reading
from benchmark.releases.masks import masks
from benchmark.releases.reading import Checked, Progress, quiet
from benchmark.services import release_export, release_import
from benchmark.services.building import Made, Work
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm.engine.hints import hint
from fpco_site.llm.engine.takeovers import Stop

TASK = "benchmark.build_releases"

_work = Work(Release)


def verify(*, folder: Path, progress: Progress = quiet) -> Checked:
    """Check a release: hashes, counts, every reference, the dataset hash, and its tables from its labels.

    Raises
    ------
    Invalid
        With one sentence: what does not fit, and where.
    """
    found = reading.check(folder, progress=progress)
    _check_dataset_hash(found)
    _check_tables(found)
    return found


def import_folder(
    *, folder: Path, by: User | None, name: str = "", dry_run: bool = False, progress: Progress = quiet
) -> Checked:
    """Check a release and, unless this is a dry run, store it as a new dataset."""
    found = verify(folder=folder, progress=progress)
    _keep_prompts(found)
    if not dry_run:
        release_import.insert(found, name=name or found.name, by=by, progress=progress)
    return found


def _check_dataset_hash(found: Checked) -> None:
    """The manifest's hash is that of the rows as they stand, or as this project would write them."""
    given = found.manifest.get("dataset_hash")
    if given is None:
        return
    written = records.dataset_hash(release_import.as_record(row) for row in found.items)
    if given != written and given != reading.raw_dataset_hash(found):
        raise Invalid(f"The items are not those that the manifest describes: their dataset hash is {written}.")


def _check_tables(found: Checked) -> None:
    """A table in the release must be what its labels give."""
    if not found.detectors:
        return
    whole = masks(found)
    for measure in frames.MEASURES:
        name = f"tables/{measure}.csv"
        made = tables.as_csv(tables.published_shape(whole, measure))
        if found.has(name) and (found.folder / name).read_text(encoding="utf-8") != made:
            raise Invalid(f"{name} is not what the labels of this release give.")


def _keep_prompts(found: Checked) -> None:
    """Prompts travel with the dataset, so that another export holds them too."""
    folder = found.folder / "prompts"
    found.manifest["prompt_texts"] = {
        name: (folder / name).read_text(encoding="utf-8")
        for name in found.manifest.get("prompts") or {}
        if found.has(f"prompts/{name}")
    }


@transaction.atomic
def request(*, dataset: Dataset, by: User) -> Release:
    """Ask for a release of the dataset as it stands; a worker builds it."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    if Release.objects.filter(dataset=dataset, state__in=[BuildState.WAITING, BuildState.BUILDING]).exists():
        raise Conflict(f"A release of {dataset.name} is being built already.")
    release = Release.objects.create(dataset=dataset, built_by=by)
    hint(TASK)
    return release


def again(*, release: Release) -> Release:
    """Build a release that failed once more."""
    return _work.again(release, task=TASK)


def build_waiting(*, stop: Stop | None = None) -> int:
    """Build every release that waits, and those whose worker stands still. Returns how many were built here."""
    return _work.run_waiting(_build, stop=stop)


def path_of(release: Release) -> Path:
    """The folder of a built release; its zip lies beside it."""
    return settings.DATA_DIR / "releases" / release.folder


def manifest_of(release: Release) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((path_of(release) / "manifest.json").read_bytes())
    return manifest


def _build(release: Release) -> Made:
    """Export, verify and zip, apart from what is there; both are put in place once the row says so."""
    folder = _apart(release) / f"{release.dataset.name}-{release.pk}"
    try:
        digest = release_export.export(dataset=release.dataset, folder=folder)
        verify(folder=folder)
        _zip(folder)
    except (OSError, ValueError) as error:
        raise Invalid(f"The files could not be written: {error}.") from error
    counts = json.loads((folder / "manifest.json").read_bytes())["counts"]
    columns = {"folder": folder.name, "manifest_sha256": digest, "counts": counts, "finished_at": timezone.now()}
    return Made({"state": BuildState.READY, **columns}, lambda: _place(folder))


def _apart(release: Release) -> Path:
    """A new folder to build in; what a worker that died left of this release is removed."""
    within = settings.DATA_DIR / "releases" / ".building"
    for left in within.glob(f"{release.pk}-*"):
        shutil.rmtree(left, ignore_errors=True)
    return within / f"{release.pk}-{uuid.uuid4()}"


def _place(built: Path) -> None:
    """Put folder and zip where they are looked for."""
    folder = settings.DATA_DIR / "releases" / built.name
    shutil.rmtree(folder, ignore_errors=True)
    built.rename(folder)
    zipped = f"{built.name}.zip"
    built.with_name(zipped).replace(folder.with_name(zipped))
    built.parent.rmdir()


def _zip(folder: Path) -> None:
    """The folder as one file; names sorted and times fixed, so that the same release gives the same bytes."""
    with zipfile.ZipFile(folder.with_name(f"{folder.name}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as file, archive.open(entry, "w", force_zip64=True) as target:
                    shutil.copyfileobj(file, target)
