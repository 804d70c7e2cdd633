"""What all pages of results share: which dataset the address asks for, and what counts of it."""

from django.db.models import QuerySet
from django.http import HttpRequest

from annotate.models import Dataset
from benchmark.models import ResultSet
from benchmark.services import results


def dataset_of(request: HttpRequest) -> Dataset | None:
    """The dataset that the address names, else the newest over which something has run."""
    asked = request.GET.get("dataset", "")
    found = (
        Dataset.objects.filter(pk=int(asked)).first()
        if asked.isascii() and asked.isdecimal() and len(asked) < 19
        else None
    )
    return found or results.newest_dataset()


def result_set_of(request: HttpRequest) -> ResultSet | None:
    """The default result set of that dataset; None where nothing has run."""
    dataset = dataset_of(request)
    return results.default(dataset) if dataset else None


def datasets() -> QuerySet[Dataset]:
    """What a page offers to choose from by name, the newest first."""
    return Dataset.objects.order_by("-id").only("name")
