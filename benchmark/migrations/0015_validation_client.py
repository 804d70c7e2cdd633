"""A page draws its validation set once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0014_evidence")]
    operations = [
        migrations.AddField(
            model_name="validationset",
            name="client",
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="validationset",
            constraint=models.UniqueConstraint(
                fields=("client",),
                name="benchmark_validationset_once_a_page",
                violation_error_message="This page has drawn its set already.",
            ),
        ),
    ]
