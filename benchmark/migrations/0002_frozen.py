"""Answers, attempts and verdicts refuse to be changed."""

from django.db import migrations

from fpco_site.triggers import frozen


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0001_initial")]
    operations = [
        frozen(
            "benchmark_response",
            ["dialogue_id", "turn", "text", "cut", "refusal", "model_answered"],
            "A response can not be changed.",
        ),
        frozen("benchmark_attempt", ["dialogue_id", "turn", "outcome"], "An attempt can not be changed."),
        frozen(
            "benchmark_detectorlabel",
            ["response_id", "detector_id", "dialogue_id", "turn", "detect"],
            "A verdict can not be changed.",
        ),
    ]
