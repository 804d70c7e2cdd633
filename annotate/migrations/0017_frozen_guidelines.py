"""A version of the guidelines is never rewritten: labels say which one they were made under."""

from django.db import migrations

from fpco_site.triggers import frozen


class Migration(migrations.Migration):
    dependencies = [("annotate", "0016_auto_advance")]
    operations = [
        frozen(
            "annotate_guideline",
            ["label_set_id", "version", "text", "change", "by_id", "created_at"],
            "A version of the guidelines can not be changed.",
        ),
        frozen(
            "annotate_label",
            ["task_id", "assignment_id", "detect", "unsure", "comment", "seconds", "guideline_id"],
            "A label can not be changed: a correction is a new row.",
        ),
    ]
