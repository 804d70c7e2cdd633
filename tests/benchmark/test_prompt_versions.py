"""Saved prompts reach what is made with them: runs, detectors and releases."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.services import prompts
from benchmark.models import Detector, Run
from benchmark.services import detectors, release_export, releases, runs
from fpco_site.llm import prompts as stored
from fpco_site.llm.models import PromptVersion
from tests import factories
from tests.engine import run_engine

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]


def save(name: str, text: str, by: User) -> int:
    return prompts.save(name=name, text=text, note="ours", by=by).version


def test_a_run_takes_the_newest_version_or_the_one_that_was_chosen(as_: As, ada: User) -> None:
    save("inference", "Answer tersely.", ada)
    data, model = factories.dataset(), factories.model()
    page = as_(ada).get(reverse("run_new")).content.decode()
    assert "version 101 (newest)" in page
    given = {"dataset": data.pk, "models": [model.pk], "prompt_version": 1, "keep": "1"}
    as_(ada).post(reverse("run_new"), given)
    run = Run.objects.get()
    assert (run.prompt_version, run.prompt_sha256) == ("1", stored.load("inference", 1).sha256)
    other = runs.create(model=factories.model(), dataset=data, by=ada)
    assert (other.prompt_version, other.prompt_sha256) == ("101", hashlib.sha256(b"Answer tersely.").hexdigest())


def test_another_prompt_makes_another_version_of_a_detector(ada: User) -> None:
    save("detector", "Judge.", ada)
    values = {"name": "Rules", "provider": "rules", "model_id": "rules"}
    first = detectors.create(by=ada, slug="rules", prompt_version=1, **values)
    again, changed = detectors.ensure(by=ada, slug="rules", prompt_version=1, **values)
    assert (again, changed) == (first, False)
    second = detectors.create(by=ada, slug="rules", prompt_version=101, **values)
    assert (second.version, second.prompt_version) == (2, "101")
    first.refresh_from_db()
    assert first.prompt_version == "1"


def test_the_form_of_a_new_detector_version_starts_from_its_prompt(as_: As, ada: User) -> None:
    made = detectors.create(by=ada, slug="rules", name="Rules", provider="rules", model_id="rules", prompt_version=1)
    save("detector", "Judge.", ada)
    page = as_(ada).get(reverse("detector_version", args=[made.pk])).content.decode()
    assert '<option value="1" selected>' in page
    given = {"slug": "rules", "name": "Rules", "provider": "rules", "model_id": "rules", "options": "{}"}
    limits = {"max_output_tokens": 256, "concurrency": 4, "prompt_version": 101}
    assert as_(ada).post(reverse("detector_version", args=[made.pk]), {**given, **limits}).status_code == 302
    assert Detector.objects.get(version=2).prompt_version == "101"


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("fast_engine")
def test_a_release_carries_saved_prompts_those_of_drafting_too(ada: User, tmp_path: Path) -> None:
    save("inference", "Answer tersely.", ada)
    save("draft_questions", "Draft.", ada)
    data = factories.dataset()
    item = factories.item()
    digest = stored.load("draft_questions").sha256
    factories.draft(item, prompt_sha256="0" * 64)  # never put in
    factories.dataset_item(data, source_item=item)
    factories.draft(item, prompt_version="101", prompt_sha256=digest, applied_at=data.created_at)
    run = runs.create(model=factories.model(), dataset=data, by=ada)
    runs.start(run=run, by=ada)
    run_engine()
    release_export.export(dataset=data, folder=tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["prompts"] == {
        "draft_questions.v101.md": digest,
        "inference.v101.md": stored.load("inference").sha256,
    }
    assert (tmp_path / "out" / "prompts" / "inference.v101.md").read_text() == "Answer tersely."
    call_command("verify_release", str(tmp_path / "out"))
    call_command("flush", interactive=False, verbosity=0)  # a database that has another version 101, or none
    PromptVersion.objects.create(name="inference", version=101, text="Another.", sha256="0" * 64)
    releases.import_folder(folder=tmp_path / "out", by=None)
    release_export.export(dataset=Dataset.objects.get(), folder=tmp_path / "again")
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "out")).read_bytes(), path
