"""Frozen datasets and the history of items and labels refuse to be changed."""

from django.db import migrations

from fpco_site.triggers import frozen


class Migration(migrations.Migration):
    dependencies = [("annotate", "0001_initial")]
    operations = [
        frozen(
            "annotate_dataset",
            ["name", "origin", "protocol", "dataset_hash"],
            "A frozen dataset can not be changed.",
        ),
        frozen(
            "annotate_datasetitem",
            [
                "dataset_id",
                "key",
                "source_item_id",
                "image_name",
                "sha256",
                "original_sha256",
                "source",
                "source_id",
                "author",
                "license",
                "license_url",
                "landing_url",
                "complexity",
                "category",
                "premise_class",
                "target",
                "target_description",
                "modified_target_description",
                "parent",
                "variant",
            ],
            "A frozen item can not be changed.",
        ),
        frozen(
            "annotate_datasetturn",
            ["item_id", "number", "false_premise", "content", "modified"],
            "A frozen question can not be changed.",
        ),
        frozen("annotate_revision", ["item_id", "version", "snapshot"], "A revision can not be changed."),
        frozen(
            "annotate_label",
            ["task_id", "assignment_id", "detect", "unsure", "comment", "seconds"],
            "A label can not be changed: a correction is a new row.",
        ),
        frozen(
            "annotate_labeltask",
            ["label_set_id", "premise_class", "content", "modified", "response", "image_id"],
            "A label task can not be changed.",
        ),
    ]
