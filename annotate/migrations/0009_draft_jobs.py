"""Every draft belongs to a job, and calls for drafts are kept for good."""

from typing import Any

from django.db import migrations

from fpco_site.triggers import frozen


def give_each_draft_a_job(apps: Any, editor: Any) -> None:
    """Drafts that were asked for one by one were jobs of one item each."""
    draft_model, job_model = apps.get_model("annotate", "Draft"), apps.get_model("annotate", "DraftJob")
    for draft in draft_model.objects.filter(job=None).order_by("pk"):
        job = job_model.objects.create(
            drafter_id=draft.drafter_id,
            kind=draft.kind,
            scope="item",
            item_id=draft.item_id,
            state="running" if draft.state in ("waiting", "running") else "complete",
            started_by_id=draft.requested_by_id,
            finished_at=draft.finished_at,
            **{f"{draft.kind}_version": draft.prompt_version},
        )
        draft_model.objects.filter(pk=draft.pk).update(job=job)
        job_model.objects.filter(pk=job.pk).update(started_at=draft.requested_at)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0008_drafting")]
    operations = [
        migrations.RunPython(give_each_draft_a_job, migrations.RunPython.noop),
        frozen(
            "annotate_draftcall",
            ["draft_id", "number", "verdict", "request", "reply", "text", "error", "findings", "request_id", "started_at"],
            "A call can not be changed.",
        ),
    ]
