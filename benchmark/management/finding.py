"""What commands are given by name. Each raises Invalid with a sentence that says what there is."""

from collections.abc import Iterable

from annotate.models import Dataset, Drafter, Item, User
from benchmark.models import Detector, EvaluatedModel, ValidationSet
from fpco_site.errors import Invalid

_SHOWN = 12


def model_named(name: str) -> EvaluatedModel:
    found = EvaluatedModel.objects.filter(name=name).first()
    if found is None:
        raise Invalid(
            f"There is no model named {name!r}; {_known(EvaluatedModel.objects.values_list('name', flat=True))}"
        )
    return found


def dataset_named(name: str) -> Dataset:
    found = Dataset.objects.filter(name=name).first()
    if found is None:
        raise Invalid(f"There is no dataset named {name!r}; {_known(Dataset.objects.values_list('name', flat=True))}")
    return found


def detector_named(name: str) -> Detector:
    """A detector by slug, its newest version, or by slug@version."""
    slug, _, version = name.partition("@")
    rows = Detector.objects.filter(slug=slug).order_by("-version")
    if version:
        rows = rows.filter(version=int(version)) if version.isdecimal() else rows.none()
    found = rows.first()
    if found is None:
        known = Detector.objects.order_by("slug").values_list("slug", flat=True).distinct()
        raise Invalid(f"There is no detector {name!r}; {_known(known)}")
    return found


def drafter_named(name: str) -> Drafter:
    found = Drafter.objects.filter(name=name).first()
    if found is None:
        raise Invalid(f"There is no drafter named {name!r}; {_known(Drafter.objects.values_list('name', flat=True))}")
    return found


def item_named(key: str) -> Item:
    found = Item.objects.filter(key=key).first()
    if found is None:
        raise Invalid(f"There is no item {key!r}; an item's key stands in the address of its page.")
    return found


def validation_set_named(name: str) -> ValidationSet:
    rows = ValidationSet.objects.select_related("label_set__dataset", "result_set")
    found = rows.filter(label_set__name=name).first()
    if found is None:
        raise Invalid(f"There is no label set named {name!r}; {_known(rows.values_list('label_set__name', flat=True))}")
    return found


def person_named(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None:
        raise Invalid(f"There is nobody named {name!r}.")
    return found


def _known(names: Iterable[str]) -> str:
    given = list(names)
    if not given:
        return "there is none yet."
    more = f" and {len(given) - _SHOWN} more" if len(given) > _SHOWN else ""
    return f"there are: {', '.join(given[:_SHOWN])}{more}."
