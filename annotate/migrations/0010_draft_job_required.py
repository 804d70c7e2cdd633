import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0009_draft_jobs")]
    operations = [
        migrations.AlterField(
            model_name="draft",
            name="job",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="drafts", to="annotate.draftjob"
            ),
        ),
    ]
