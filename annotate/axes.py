"""The three axes of the benchmark: 3 x 4 x 3 = 36 cells (paper, section 3)."""

from itertools import product

from django.db import models


class Complexity(models.TextChoices):
    SINGLE_CLEAN = "single_clean", "single, clean"
    MULTI_SEPARATED = "multi_separated", "multiple, separated"
    MULTI_OVERLAPPING = "multi_overlapping", "multiple, overlapping"


class Category(models.TextChoices):
    PERSON = "person", "person"
    VEHICLE = "vehicle", "vehicle"
    ANIMAL = "animal", "animal"
    FOOD = "food", "food"

    @property
    def number(self) -> int:
        """The number that the image metadata uses: person 1, vehicle 2, animal 3, food 4."""
        return list(Category).index(self) + 1


class PremiseClass(models.TextChoices):
    IDENTITY = "identity", "identity"
    ATTRIBUTE = "attribute", "attribute"
    LOCATION = "location", "location"


type Cell = tuple[str, str, str]

CELLS: tuple[Cell, ...] = tuple(product(Complexity.values, Category.values, PremiseClass.values))
