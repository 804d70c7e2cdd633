"""What was written for good can't be changed, whoever asks the database."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from annotate.models import DatasetItem, DatasetTurn
from benchmark.models import Attempt, DetectorLabel, Response
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]


def refused(change: Callable[[], Any], words: str) -> None:
    with pytest.raises(DatabaseError, match=words), transaction.atomic():
        change()


def test_a_frozen_question_and_item_refuse_an_update() -> None:
    factories.dataset(items=1)
    refused(lambda: DatasetTurn.objects.update(content="changed"), "frozen question")
    refused(lambda: DatasetItem.objects.update(target_description="changed"), "frozen item")


def test_a_picture_may_be_attached_to_a_frozen_item() -> None:
    row = factories.dataset(items=0)
    entry = factories.dataset_item(row, image=None)
    photo = factories.image()
    DatasetItem.objects.filter(pk=entry.pk).update(image=photo)
    assert DatasetItem.objects.get(pk=entry.pk).image == photo


def test_an_answer_and_a_verdict_refuse_an_update() -> None:
    run = factories.run(answered=2)
    factories.detector_labels(factories.detector(), run)
    refused(lambda: Response.objects.update(text="changed"), "response can not be changed")
    Attempt.objects.create(dialogue=run.dialogues.get(), turn=1, outcome="answered", started_at=timezone.now())
    refused(lambda: Attempt.objects.update(outcome="failed"), "attempt can not be changed")
    refused(lambda: Attempt.objects.update(request_sha256="0" * 64), "attempt can not be changed")
    refused(lambda: Attempt.objects.update(error="none"), "attempt can not be changed")
    refused(lambda: Attempt.objects.update(input_tokens=1), "attempt can not be changed")
    refused(lambda: DetectorLabel.objects.update(detect=False), "verdict can not be changed")


def test_text_with_nul_and_lone_surrogates_comes_back_true() -> None:
    run = factories.run(answered=0)
    odd = "a\x00b\ud800c\x1ad\U0001f600"
    Response.objects.create(dialogue=run.dialogues.get(), turn=1, text=odd, raw=b"\x00\xff raw")
    kept = Response.objects.get()
    assert kept.text == odd
    assert kept.raw == b"\x00\xff raw"


FROZEN = {
    "annotate_dataset",
    "annotate_datasetitem",
    "annotate_datasetturn",
    "annotate_revision",
    "annotate_guideline",
    "annotate_label",
    "annotate_labeltask",
    "annotate_studychange",
    "annotate_takenback",
    "annotate_draftcall",
    "annotate_adjudication",
    "llm_promptversion",
    "benchmark_response",
    "benchmark_attempt",
    "benchmark_detectioncall",
    "benchmark_detectorlabel",
    "benchmark_analysis",
    "benchmark_exposure",
    "benchmark_opened",
}


def test_no_migration_has_dropped_a_trigger() -> None:
    """SQLite makes a table anew when a migration alters it, and forgets its triggers."""
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if connection.vendor == "sqlite"
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        assert {row[0] for row in cursor.fetchall()} == {f"{table}_frozen" for table in FROZEN}
