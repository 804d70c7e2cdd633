"""A study of the published size: 1,080 items in 36 cells and every state, with all that people did to them.

Made by bulk inserts, so that it takes seconds; every row is one that the services would have made.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import product

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from annotate.axes import CELLS, Cell
from annotate.models import Comment, Draft, Drafter, DraftJob, Image, Item, Review, Revision, Turn, User
from annotate.models.protocols import STUDY
from tests import factories

PER_CELL = 30
RESERVE = 120
NOUNS = {"person": "cyclist", "vehicle": "tram", "animal": "heron", "food": "loaf"}
WRONG = {"identity": ("heron", "goat"), "attribute": ("striped", "plain"), "location": ("left", "right")}
CHECKS = ("grounding", "consistency", "naturalness", "single_error")
# Of ten items of a cell: what becomes of each.
FATES = (*["approved"] * 6, "in_review", "in_review", "draft", "rejected")


def build(
    *, author: User, reviewer: User, per_cell: int = PER_CELL, reserve: int = RESERVE, files: bool = False
) -> None:
    """Fill an empty database. With `files` every picture has a small file of its own."""
    places = list(product(CELLS, range(per_cell)))
    images = _images(len(places) + RESERVE, author, files=files)
    rows = [
        _item(number, cell, image, author)
        for number, ((cell, _), image) in enumerate(zip(places, images[: len(places)], strict=True))
    ]
    made = Item.objects.bulk_create(rows, batch_size=200)
    turns = [turn for item in made for turn in _turns(item)]
    Turn.objects.bulk_create(turns, batch_size=2000)
    Revision.objects.bulk_create((row for item in made for row in _revisions(item, author)), batch_size=500)
    Review.objects.bulk_create((row for item in made for row in _reviews(item, reviewer)), batch_size=500)
    Draft.objects.bulk_create(_drafts(made, author), batch_size=200)
    remarks = [Comment(item=item, version=3, text="Is this the same bird?", by=reviewer) for item in made[::40]]
    Comment.objects.bulk_create(remarks)


def _images(count: int, by: User, *, files: bool) -> list[Image]:
    found = []
    for number in range(count):
        data = factories.jpeg(320, 240, seed=number) + number.to_bytes(4)
        digest = sha256(data).hexdigest()
        name = f"images/{digest}.jpg"
        if files:
            name = default_storage.save(name, ContentFile(data))
        noun = list(NOUNS.values())[number % 4]
        kind = ("CC BY 2.0", "CC BY-ND 2.0")[number % 15 == 0]
        facts = {"source": "coco", "source_id": str(number), "author": f"Photographer {number % 50}", "license": kind}
        row = Image(sha256=digest, original_sha256=digest, file=name, width=320, height=240, target=noun, **facts)
        row.name, row.phash, row.added_by = f"{number:06d}.jpg", digest[:16], by
        row.landing_url = f"https://example.org/photo/{number}"
        found.append(row)
    return Image.objects.bulk_create(found, batch_size=200)


def _item(number: int, cell: Cell, image: Image, author: User) -> Item:
    state = FATES[number % len(FATES)]
    described = f"the striped heron on the left of post {number}"
    true, false = WRONG[cell[2]]
    row = Item(key=image.sha256[:12], image=image, target=NOUNS[cell[1]], state=state, version=3, edited_by=author)
    row.complexity, row.category, row.premise_class = cell
    if state != "draft":
        row.target_description, row.modified_target_description = described, described.replace(true, false, 1)
    return row


def _turns(item: Item) -> Iterator[Turn]:
    written = bool(item.target_description)
    contents = factories.questions(item.target_description)
    rewrites = factories.questions(item.modified_target_description)
    for number, (content, modified) in enumerate(zip(contents, rewrites, strict=True), 1):
        false = number in STUDY["false_turns"]
        yield Turn(
            item=item,
            number=number,
            content=content if written else "",
            modified=modified if written and false else "",
        )


def _revisions(item: Item, author: User) -> Iterator[Revision]:
    contents = factories.questions(item.target_description)
    for version, reason in ((1, "placed"), (2, "written"), (3, "submitted for review")):
        names = ("key", "complexity", "category", "premise_class", "state", "target")
        texts = {"target_description": item.target_description, "modified_target_description": ""}
        snapshot = {name: getattr(item, name) for name in names} | (texts if version > 1 else dict.fromkeys(texts, ""))
        turns = [
            {"turn": number, "content": content if version > 1 else "", "modified": ""}
            for number, content in enumerate(contents, 1)
        ]
        snapshot |= {"image": item.image.sha256, "turns": turns}
        yield Revision(item=item, version=version, snapshot=snapshot, by=author, reason=reason)


def _reviews(item: Item, reviewer: User) -> Iterator[Review]:
    if item.state == "approved":
        yield Review(item=item, item_version=3, reviewer=reviewer, verdict="approved", **dict.fromkeys(CHECKS, True))
    if item.state == "rejected":
        yield Review(item=item, item_version=3, reviewer=reviewer, verdict="rejected", comment="Too dark.")


def _drafts(rows: list[Item], author: User) -> Iterator[Draft]:
    drafter = Drafter.objects.create(name="Scripted", provider="drafter", model_id="drafter")
    job = DraftJob.objects.create(drafter=drafter, kind="both", scope="waiting", state="complete", started_by=author)
    for item, kind in product(rows, ("questions", "premise")):
        yield Draft(
            job=job,
            item=item,
            drafter=drafter,
            kind=kind,
            state="ready",
            prompt_name=f"draft_{kind}",
            prompt_version="1",
            prompt_sha256="a" * 64,
            model_asked="drafter",
            model_answered="drafter",
            request=b"{}" * 50,
            reply=b"{}" * 50,
            input_tokens=500,
            output_tokens=300,
            simulated=True,
            requested_by=author,
            applied_by=author,
            applied_at=timezone.now(),
        )


def mend(*, by: User) -> None:
    """What changes between two versions of a dataset: some texts, some licences, some items."""
    approved = Item.objects.filter(state="approved").order_by("pk")
    some = list(approved[::20])
    Turn.objects.filter(item__in=some, number=2).update(content="What is right behind it?")
    Image.objects.filter(pk__in=[item.image_id for item in some[::2]]).update(license="CC BY 4.0")
    Item.objects.filter(pk__in=[item.pk for item in approved[5::30]]).update(state="rejected")
    for item in Item.objects.filter(state="in_review").order_by("pk")[:10]:
        Review.objects.create(
            item=item, item_version=item.version, reviewer=by, verdict="approved", **dict.fromkeys(CHECKS, True)
        )
        Item.objects.filter(pk=item.pk).update(state="approved")
