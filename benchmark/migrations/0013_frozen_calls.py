"""Calls are only added: nothing of an attempt or of a detection's call can be changed."""

from django.db import migrations

from fpco_site.triggers import frozen

CALL = [
    "outcome",
    "started_at",
    "seconds",
    "request_id",
    "status",
    "error_class",
    "error",
    "raw",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
]
ATTEMPT = ["dialogue_id", "turn", "reason", "settings", "image_sha256", "request_sha256", "software_id"]


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0012_watching")]
    operations = [
        frozen("benchmark_attempt", [*ATTEMPT, *CALL], "An attempt can not be changed."),
        frozen(
            "benchmark_detectioncall",
            ["detection_id", "ids", "max_output_tokens", *CALL],
            "A call of a detector can not be changed.",
        ),
    ]
