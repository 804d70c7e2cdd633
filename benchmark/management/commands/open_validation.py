"""`manage.py open_validation DATASET --per-cell 6 --seed 1 --annotators lea lou`; `--preview` draws nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models import Dataset
from annotate.models.labels import Mode
from benchmark import designs, strata
from benchmark.designs import Kind, Naming
from benchmark.management.finding import dataset_named, person_named
from benchmark.models import ResultSet
from benchmark.services import validation
from benchmark.services.validation import Prepared
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = "Draw answers by a design and open them for blind labelling."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--result-set", default="", metavar="NAME", help="without it, the dataset's newest")
        parser.add_argument("--preview", action="store_true", help="print what could be drawn, and draw nothing")
        _add_design(parser)
        parser.add_argument("--seed", type=int, help="the same seed draws the same answers; without it, one is drawn")
        parser.add_argument("--annotators", nargs="+", default=[], metavar="NAME")
        parser.add_argument("--mode", choices=Mode.values, default=Mode.CROSSED)
        parser.add_argument("--labels-per-task", type=int, default=2, help="pool: labels of each answer")
        parser.add_argument("--show-picture", action="store_true", help="show the picture beside each answer")
        parser.add_argument("--name", default="", help="what the annotators read as the set's name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            source = _source(options)
            if options["preview"]:
                self._tell(validation.prepare(**source))
            else:
                self._open(source, options)
        except FpcoError as error:
            raise CommandError(error.message) from error

    def _open(self, source: dict[str, Any], options: dict[str, Any]) -> None:
        names = options["annotators"]
        people = [person_named(name) for name in names]
        chosen = {name: options[name] for name in ("seed", "name", "mode", "labels_per_task")}
        made = validation.open(annotators=people, by=None, **source, **chosen)
        who = ", ".join(names) or "whoever joins"
        self.stdout.write(f"Opened {made.label_set.name}: {made.design['drawn']} answers for {who}.")
        if short := len(made.design["shortfalls"]):
            self.stdout.write(f"{short} of the strata held fewer answers than were wanted; all of theirs are in.")

    def _tell(self, prepared: Prepared) -> None:
        found = prepared.survey
        self.stdout.write(f"{found.drawn} of {found.frame} answers would be drawn from {prepared.result_set.name}.")
        self.stdout.write(f"{found.found} of them all name a model or its maker ({prepared.plan.naming}).")
        if found.left_out:
            self.stdout.write(f"{found.left_out} more lack a label of one detector and can't be drawn.")
        for cell in strata.of_survey(found):
            short = f", {cell.short} short of {cell.wanted}" if cell.short else ""
            named = f", {cell.named} named" if cell.named else ""
            self.stdout.write(f"  {' / '.join(cell.stratum)}: {cell.drawn} of {cell.size}{short}{named}")


def _add_design(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("--design", choices=list(Kind), default=Kind.MODEL_CLASS, type=Kind, help="what the strata are made of")
    add("--per-cell", type=int, default=designs.STUDY_NUMBER, help="model_class: answers of a model and class")
    add("--total", type=int, default=designs.TOTAL, help="random: answers in all")
    add("--per-label", type=int, default=designs.OF_EACH_LABEL, help="label: answers of each label")
    add("--each-detector", action="store_true", help="label: one-sided answers apart by detector")
    add(
        "--disagreeing",
        type=int,
        default=designs.OF_EACH_SIDE,
        help="disagreement: answers on which the detectors disagree",
    )
    add("--agreeing", type=int, default=designs.OF_EACH_SIDE, help="disagreement: answers on which they agree")
    add("--correct", type=int, default=0, help="answers of each model from turns with a correct premise")
    add("--naming", choices=list(Naming), default=Naming.LEAVE, type=Naming, help="answers that name a model")


def _source(options: dict[str, Any]) -> dict[str, Any]:
    dataset = dataset_named(options["dataset"])
    result_set = _result_set(dataset, options["result_set"]) if options["result_set"] else None
    return {
        "dataset": dataset,
        "plan": designs.stated(options),
        "result_set": result_set,
        "show_picture": options["show_picture"],
    }


def _result_set(dataset: Dataset, name: str) -> ResultSet:
    found = ResultSet.objects.filter(dataset=dataset, name=name).first()
    if found is None:
        raise Invalid(f"{dataset.name} has no result set named {name}.")
    return found
