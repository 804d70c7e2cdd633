"""What the address of a figure says: which models, in which pinned colours, which cutoff; and back again."""

from dataclasses import dataclass

from django.http import QueryDict

from benchmark import figure_rows
from benchmark.charts.look import COLOUR_NAMES, OKABE_ITO
from benchmark.figures import PUBLISHED, Drawn, Options
from benchmark.frames import AVG, Masks

COLOURS = dict(zip(COLOUR_NAMES, OKABE_ITO, strict=True))
AVG_NAME = "mean of both detectors"


@dataclass(frozen=True)
class Offer:
    """A model to choose, with whether it is shown and the colour that is pinned to it."""

    name: str
    family: str
    shown: bool
    colour: str


def read(given: QueryDict) -> Options:
    """The options that an address asks for; what makes no sense is left to the figure."""
    k = given.get("k", "")
    return Options(
        models=tuple(dict.fromkeys(filter(None, given.getlist("model")))),
        colours=pins(given),
        column=given.get("detector", ""),
        k=int(k) if k.isascii() and k.isdecimal() and len(k) < 4 else None,
        published=tuple(name for name in PUBLISHED if name in given.getlist("published")),
    )


def pins(given: QueryDict) -> dict[str, str]:
    """`colour=NAME:blue` pins blue to the model of that name."""
    found = (value.rpartition(":") for value in given.getlist("colour"))
    return {name: COLOURS[colour] for name, _, colour in found if name and colour in COLOURS}


def clean(given: QueryDict) -> QueryDict:
    """The address without what a form left empty."""
    kept = QueryDict(mutable=True)
    for name, values in given.lists():
        if said := [value for value in values if value]:
            kept.setlist(name, said)
    return kept


def carried(given: QueryDict, dataset: int) -> str:
    """What goes along to another figure and to a file: everything but the cutoff, which is a figure's own."""
    kept = clean(given)
    kept["dataset"] = str(dataset)
    for name in ("k", "width"):
        kept.pop(name, None)
    return kept.urlencode()


def offers(found: Masks, drawn: Drawn, given: QueryDict) -> list[Offer]:
    """The models of the result set, the highest first."""
    colours = {name: colour for colour, name in zip(COLOUR_NAMES, OKABE_ITO, strict=True)}
    pinned = pins(given)
    families = {model.name: model.family for model in found.models}
    return [
        Offer(name, families[name], name in drawn.options.models, colours.get(pinned.get(name, ""), ""))
        for name in figure_rows.ranked(found, drawn.options.column)
    ]


def columns(found: Masks) -> list[tuple[str, str]]:
    """The detectors to choose from, the mean first where there is one."""
    named = [(detector.slug, detector.name) for detector in found.detectors]
    return [(AVG, AVG_NAME), *named] if AVG in found.columns else named
