"""When aggregates were first opened by whom; what was seen and withheld is evidence that nobody changes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from fpco_site.triggers import frozen


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0015_labelling"),
        ("benchmark", "0013_frozen_calls"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="Opened",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("page", models.CharField(max_length=200)),
                ("first_at", models.DateTimeField(auto_now_add=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotate.dataset"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dataset", "person", "page"),
                        name="benchmark_opened_once",
                        violation_error_message="A page is opened for the first time once.",
                    )
                ]
            },
        ),
        frozen("benchmark_opened", ["person_id", "dataset_id", "page", "first_at"], "A first look can not be changed."),
        frozen(
            "benchmark_exposure",
            ["person_id", "dataset_id", "dialogue_id", "page", "withheld", "at"],
            "A record of what was seen can not be changed.",
        ),
    ]
