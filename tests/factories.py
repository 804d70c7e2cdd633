"""Valid rows, made quickly. A test states only what matters to it.

The cast: Ada curates, Ben reviews, Lea and Lou label, Rita reads, Max is a stranger.
"""

from hashlib import sha256
from io import BytesIO
from itertools import count
from random import Random
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone
from PIL import Image as Picture

from annotate.models import (
    Assignment,
    Dataset,
    DatasetItem,
    DatasetTurn,
    Draft,
    Drafter,
    DraftJob,
    Guideline,
    Image,
    Item,
    LabelSet,
    LabelTask,
    Review,
    Turn,
    User,
)
from annotate.models.people import Role
from annotate.models.protocols import STUDY
from benchmark.models import (
    DetectionJob,
    Detector,
    DetectorLabel,
    Dialogue,
    EvaluatedModel,
    Response,
    Run,
)
from benchmark.services import spending

PASSWORD = "a good long password"
_numbers = count(1)


def jpeg(width: int = 64, height: int = 48, *, seed: int | None = None) -> bytes:
    """A small picture whose bytes differ for each seed."""
    seed = next(_numbers) if seed is None else seed
    buffer = BytesIO()
    colour = (seed * 37 % 256, seed * 91 % 256, seed * 53 % 256)
    Picture.new("RGB", (width, height), colour).save(buffer, "JPEG")
    return buffer.getvalue()


def photograph(seed: int, *, quality: int = 90, size: tuple[int, int] = (160, 120)) -> bytes:
    """A picture with shapes in it, another one for each seed; plain colours say nothing to a perceptual hash."""
    coarse = Picture.frombytes("RGB", (8, 6), Random(seed).randbytes(8 * 6 * 3))
    buffer = BytesIO()
    coarse.resize(size, Picture.Resampling.BICUBIC).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def person(name: str, role: str = Role.AUTHOR, **more: Any) -> User:
    return User.objects.create_user(username=name, password=PASSWORD, role=role, **more)


def image(**more: Any) -> Image:
    data = more.pop("data", None) or jpeg()
    digest = sha256(data).hexdigest()
    values: dict[str, Any] = {
        "sha256": digest,
        "original_sha256": digest,
        "width": 64,
        "height": 48,
        "name": "photo.jpg",
        "author": "A. Photographer",
        "license": "CC0",
        "license_url": "https://creativecommons.org/publicdomain/zero/1.0/",
    }
    row = Image(**{**values, **more})
    row.file.save(f"{digest}.jpg", ContentFile(data), save=True)
    return row


def questions(description: str) -> list[str]:
    asks = (
        "What is {d} doing?",
        "What can be seen behind {d}?",
        "Is {d} facing the camera?",
        "What is the closest thing to {d}?",
        "How is {d} lit?",
        "Does {d} look still or in motion?",
        "What stands out most about {d}?",
        "Where does {d} seem to be resting?",
        "What shape does {d} make against the background?",
        "Why might someone have photographed {d}?",
    )
    return [ask.format(d=description) for ask in asks]


def item(**more: Any) -> Item:
    """A complete item of ten questions, in review unless told otherwise."""
    photo = more.pop("image", None) or image()
    values: dict[str, Any] = {
        "image": photo,
        "key": photo.sha256[:12],
        "complexity": "single_clean",
        "category": "animal",
        "premise_class": "identity",
        "target": "cat",
        "target_description": "the striped cat on the chair",
        "modified_target_description": "the striped dog on the chair",
        "state": "in_review",
    }
    row = Item.objects.create(**{**values, **more})
    false = STUDY["false_turns"]
    originals = questions(row.target_description)
    rewrites = questions(row.modified_target_description)
    Turn.objects.bulk_create(
        Turn(item=row, number=n, content=originals[n - 1], modified=rewrites[n - 1] if n in false else "")
        for n in range(1, 11)
    )
    return row


def draft(of: Item, **more: Any) -> Draft:
    """A draft of an item in a job of its own; `drafter`, `by` and the job's own columns in `job` if it matters."""
    drafter = (
        more.pop("drafter", None)
        or Drafter.objects.get_or_create(name="Scripted", defaults={"provider": "drafter", "model_id": "drafter"})[0]
    )
    values: dict[str, Any] = {
        "kind": "questions",
        "state": "ready",
        "prompt_name": "draft_questions",
        "prompt_version": "1",
        **more,
    }
    values["job"] = values.get("job") or DraftJob.objects.create(
        drafter=drafter, kind=values["kind"], scope="item", item=of, state="complete"
    )
    return Draft.objects.create(item=of, drafter=drafter, **values)


def approved(by: User, **more: Any) -> Item:
    """A complete item that this person has approved."""
    row = item(**{"state": "approved", **more})
    checks = dict.fromkeys(("grounding", "consistency", "naturalness", "single_error"), True)
    Review.objects.create(item=row, item_version=row.version, reviewer=by, verdict="approved", **checks)
    return row


def dataset(name: str = "", *, items: int = 1, **more: Any) -> Dataset:
    """A frozen dataset whose items go round the three premise classes."""
    row = Dataset.objects.create(
        **{
            "name": name or f"set-{next(_numbers)}",
            "origin": "frozen",
            "protocol": dict(STUDY),
            "dataset_hash": "0" * 64,
            **more,
        }
    )
    for index in range(items):
        dataset_item(row, premise_class=("identity", "attribute", "location")[index % 3])
    return row


def dataset_item(row: Dataset, **more: Any) -> DatasetItem:
    number = next(_numbers)
    values: dict[str, Any] = {
        "dataset": row,
        "key": f"item{number:05d}",
        "complexity": "single_clean",
        "category": "animal",
        "premise_class": "identity",
        "target": "cat",
        "target_description": "the striped cat on the chair",
        "modified_target_description": "the striped dog on the chair",
    }
    if "image" not in more:
        more["image"] = image()
    if more["image"] is not None:
        values["sha256"] = more["image"].sha256
        values["image_name"] = f"{more['image'].sha256}.jpg"
    made = DatasetItem.objects.create(**{**values, **more})
    originals = questions(made.target_description)
    rewrites = questions(made.modified_target_description)
    DatasetTurn.objects.bulk_create(
        DatasetTurn(
            item=made,
            number=n,
            false_premise=n in row.false_turns,
            content=originals[n - 1],
            modified=rewrites[n - 1] if n in row.false_turns else "",
        )
        for n in range(1, row.turns + 1)
    )
    return made


def model(name: str = "", **more: Any) -> EvaluatedModel:
    values: dict[str, Any] = {"family": "Scripted", "provider": "scripted", "model_id": "scripted-skeptic"}
    return EvaluatedModel.objects.create(name=name or f"Model {next(_numbers)}", **{**values, **more})


def run(**more: Any) -> Run:
    """A run with its dialogues, waiting; `answered` turns of each dialogue are filled with text."""
    answered = more.pop("answered", 0)
    of = more.pop("model", None) or model()
    over = more.pop("dataset", None) or dataset()
    row = Run.objects.create(
        **{"model": of, "dataset": over, "state": "draft", "settings": of.settings(), "simulated": True, **more}
    )
    spending.open_run(run=row)
    for entry in over.items.all():
        state = "complete" if answered == over.turns else "stopped" if answered else "waiting"
        dialogue = Dialogue.objects.create(run=row, item=entry, state=state)
        Response.objects.bulk_create(
            Response(dialogue=dialogue, turn=turn, text=f"Answer {turn} about {entry.target}.")
            for turn in range(1, answered + 1)
        )
    return row


def answers(
    dialogue: Dialogue, turns: int, *, state: str = "complete", cut: tuple[int, ...] = (), refused: tuple[int, ...] = ()
) -> Dialogue:
    """The dialogue with its first turns answered, in that state; `cut` and `refused` are turns."""
    Response.objects.bulk_create(
        Response(
            dialogue=dialogue,
            turn=turn,
            text=f"Answer {turn}, word for word.",
            cut=turn in cut,
            refusal=turn in refused,
        )
        for turn in range(1, turns + 1)
    )
    dialogue.state = state
    dialogue.save(update_fields=["state"])
    return dialogue


def detector(slug: str = "", **more: Any) -> Detector:
    slug = slug or f"rules-{next(_numbers)}"
    values: dict[str, Any] = {"name": slug, "provider": "rules", "model_id": "rules-strict", "simulated": True}
    return Detector.objects.create(slug=slug, **{**values, **more})


def detector_labels(of: Detector, over: Run, detect: Any = True) -> DetectionJob:
    """Labels of every response of a run; `detect` is a bool or a function of the response."""
    job, _ = DetectionJob.objects.get_or_create(detector=of, dataset=over.dataset, defaults={"state": "complete"})
    spending.open_job(job=job)
    for dialogue in over.dialogues.all():
        job.detections.create(detector=of, dialogue=dialogue, state="complete")
        DetectorLabel.objects.bulk_create(
            DetectorLabel(
                response=response,
                detector=of,
                dialogue=dialogue,
                turn=response.turn,
                detect=bool(detect(response) if callable(detect) else detect),
            )
            for response in dialogue.responses.all()
        )
    Run.objects.filter(pk=over.pk).update(patterns_dirty=True)
    return job


def label_set(over: Dataset, people: list[User], *, tasks: int = 3, **more: Any) -> LabelSet:
    """An open crossed set of made-up tasks, with everybody assigned."""
    row = LabelSet.objects.create(
        **{"name": f"labels-{next(_numbers)}", "dataset": over, "opened_at": timezone.now(), **more}
    )
    Guideline.objects.create(label_set=row, text="Say whether the answer corrects the premise.")
    LabelTask.objects.bulk_create(
        LabelTask(
            label_set=row,
            created_at=row.opened_at,
            premise_class="identity",
            content=f"What is the cat doing? ({index})",
            modified=f"What is the dog doing? ({index})",
            response=f"It sleeps. ({index})",
        )
        for index in range(tasks)
    )
    for index, who in enumerate(people, 1):
        Assignment.objects.create(
            label_set=row, person=who, pseudonym=f"H{index}", order_key=sha256(who.username.encode()).hexdigest()
        )
    return row
