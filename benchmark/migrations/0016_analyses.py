"""Analyses are asked for, run by whoever claims them, and stored once for the same question about the same data."""

import django.db.models.deletion
from django.db import migrations, models

import fpco_site.fields
from fpco_site.triggers import frozen

STATES = [("waiting", "waiting"), ("running", "running"), ("done", "done"), ("failed", "failed")]
ASKED = ["dataset_id", "result_set_id", "kind", "inputs_sha256", "request_sha256", "seed", "parameters"]


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0015_validation_client")]
    operations = [
        migrations.RemoveConstraint(model_name="analysis", name="benchmark_analysis_once"),
        migrations.AlterField(
            model_name="analysis",
            name="result_set",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="benchmark.resultset"
            ),
        ),
        migrations.AlterField(
            model_name="analysis", name="result", field=models.JSONField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="analysis",
            name="state",
            field=models.CharField(choices=STATES, default="waiting", max_length=20),
        ),
        migrations.AddField(
            model_name="analysis",
            name="request_sha256",
            field=models.CharField(default="", max_length=64),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="analysis", name="error", field=fpco_site.fields.WrittenField(blank=True)
        ),
        migrations.AddField(
            model_name="analysis", name="worker", field=models.CharField(blank=True, max_length=36)
        ),
        migrations.AddField(model_name="analysis", name="beat", field=models.PositiveIntegerField(default=0)),
        migrations.AddField(model_name="analysis", name="tries", field=models.PositiveSmallIntegerField(default=0)),
        migrations.AddField(
            model_name="analysis", name="finished_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddConstraint(
            model_name="analysis",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "running", "done", "failed"])),
                name="benchmark_analysis_state_known",
                violation_error_message="The state must be one of: waiting, running, done, failed.",
            ),
        ),
        migrations.AddConstraint(
            model_name="analysis",
            constraint=models.UniqueConstraint(
                fields=("dataset", "request_sha256"),
                name="benchmark_analysis_once",
                violation_error_message="This analysis of the same inputs is stored already.",
            ),
        ),
        migrations.AddConstraint(
            model_name="analysis",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("state", "done"), _negated=True), ("result__isnull", False), _connector="OR"),
                name="benchmark_analysis_done_has_result",
                violation_error_message="An analysis that is done has a result.",
            ),
        ),
        frozen("benchmark_analysis", ASKED, "What an analysis was asked can not be changed."),
    ]
