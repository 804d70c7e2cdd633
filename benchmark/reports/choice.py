"""What a report holds."""

from dataclasses import asdict, dataclass
from typing import Any

from benchmark.tables import Rounding


@dataclass(frozen=True)
class Choice:
    """Slugs of figures and of the study's tables, ids of validation sets and stored analyses, and what they rest on."""

    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    sets: tuple[int, ...] = ()
    analyses: tuple[int, ...] = ()
    settings: bool = True
    coverage: bool = True
    rounding: Rounding = "exact"

    def record(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def restored(record: dict[str, Any]) -> Choice:
    """The choice of a record."""
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    return Choice(**given)
