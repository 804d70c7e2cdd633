"""Every run and detection job gets its sums from its rows, and the prices of today."""

from django.db import migrations
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce, Least

PRICES = ("price_input", "price_cached_input", "price_output")


def prices_of(row):
    return {name: getattr(row, name) for name in PRICES}


def sums_of(rows, by, replied):
    """Columns of `Spending` for each value of the columns `by`; `replied` tells which rows are replies."""
    told = Q(input_tokens__isnull=False, output_tokens__isnull=False)
    input_, output = Coalesce(F("input_tokens"), 0), Coalesce(F("output_tokens"), 0)
    found = (
        rows.order_by()
        .values(*by)
        .annotate(
            n_calls=Count("pk"),
            n_replies=Count("pk", filter=replied),
            n_counted=Count("pk", filter=told & replied),
            n_input_tokens=Sum(input_),
            n_cached_tokens=Sum(Least(Coalesce(F("cached_tokens"), 0), input_)),
            n_output_tokens=Sum(output),
            n_reasoning_tokens=Sum(Least(Coalesce(F("reasoning_tokens"), 0), output)),
        )
    )
    return {
        tuple(row.pop(name) for name in by): {name.removeprefix("n_"): n for name, n in row.items()} for row in found
    }


def fill(apps, schema_editor):
    replied = Q(error_class="") | Q(error_class__startswith="unusable")
    asked = sums_of(apps.get_model("benchmark", "Attempt").objects.all(), ["dialogue__run"], replied)
    imported = apps.get_model("benchmark", "Response").objects.filter(dialogue__run__imported=True)
    told = sums_of(imported, ["dialogue__run"], Q(pk__isnull=False))
    judged = sums_of(apps.get_model("benchmark", "DetectionCall").objects.all(), ["detection__job", "discount"], replied)
    Spending = apps.get_model("benchmark", "Spending")
    Spending.objects.bulk_create(
        Spending(run=run, **prices_of(run.model), **(told if run.imported else asked).get((run.pk,), {}))
        for run in apps.get_model("benchmark", "Run").objects.select_related("model")
    )
    for job in apps.get_model("benchmark", "DetectionJob").objects.select_related("detector"):
        discounts = {0} | {discount for pk, discount in judged if pk == job.pk}
        for discount in discounts:
            sums = judged.get((job.pk, discount), {})
            Spending.objects.create(job=job, discount=discount, **prices_of(job.detector), **sums)


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0006_spending")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
