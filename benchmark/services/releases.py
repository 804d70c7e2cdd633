"""Releases: built in the background, imported whole, checked by anyone."""

from pathlib import Path

from annotate import records
from annotate.models import User
from benchmark import frames, tables
from benchmark.releases import reading
from benchmark.releases.masks import masks
from benchmark.releases.reading import Checked, Progress, quiet
from benchmark.services import release_import
from fpco_site.errors import Invalid


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
