"""A prompt that was saved refuses to be changed: rows were made with it."""

from django.db import migrations

from fpco_site.triggers import frozen


class Migration(migrations.Migration):
    dependencies = [("llm", "0002_prompt_version")]
    operations = [
        frozen(
            "llm_promptversion",
            ["name", "version", "text", "sha256", "note", "by", "at"],
            "A saved prompt can not be changed: save a new version.",
        ),
    ]
