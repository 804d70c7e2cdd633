"""Agreement over the API equals the page's frame, and is for readers alone."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from annotate.models import User
from annotate.services import labels
from benchmark.models import ValidationSet
from benchmark.services import validation
from tests import factories

As = Callable[[User], Client]
SETS = "/api/v1/validation-sets/"


@pytest.fixture
def row(lea: User, lou: User) -> ValidationSet:
    """Two people who agree on 2 of 3 answers of one model."""
    over = factories.dataset(items=3)
    factories.run(dataset=over, answered=10, state="complete")
    made = validation.open(dataset=over, annotators=[lea, lou], by=None, per_cell=1, seed=5)
    for number, item in enumerate(made.items.select_related("task")):
        for mine in made.label_set.assignments.all():
            detect = number == 0 or (number == 1 and mine.person == lea)
            labels.record(assignment=mine, task=item.task, detect=detect, client=uuid.uuid4(), sequence=1)
    return made


def test_rita_reads_each_pair_and_level(row: ValidationSet, rita: User, as_: As) -> None:
    overall, *by_class = as_(rita).get(f"{SETS}{row.pk}/agreement/").json()
    assert (overall["first"], overall["second"], overall["level"]) == ("H1", "H2", "overall")
    # p_o = 2/3, p_e = (2*1 + 1*2)/9 = 4/9, kappa = (6/9 - 4/9) / (5/9) = 0.4.
    assert overall["kappa"] == pytest.approx(0.4)
    assert overall["n"] == sum(level["n"] for level in by_class) == 3
    # They differ on the second, that of identity; one shared label alone leaves nothing to expect by chance.
    assert {level["level"]: level["kappa"] for level in by_class} == {
        "identity": 0.0,
        "attribute": None,
        "location": None,
    }
    assert all(level["reasons"]["kappa"] for level in by_class if level["kappa"] is None)


def test_the_list_does_not_name_the_seed(row: ValidationSet, rita: User, as_: As) -> None:
    assert "seed" not in as_(rita).get(SETS).json()[0]


def test_it_is_withheld_from_who_labels_and_absent_for_annotators(
    row: ValidationSet, ada: User, lea: User, as_: As
) -> None:
    assert as_(lea).get(SETS).status_code == 404
    assert as_(lea).get(f"{SETS}{row.pk}/agreement/").status_code == 404
    factories.label_set(row.label_set.dataset, [ada])
    assert as_(ada).get(f"{SETS}{row.pk}/agreement/").status_code == 403
