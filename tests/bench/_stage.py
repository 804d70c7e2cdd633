"""The benchmark's process beside the worker: it makes datasets and runs by the project's services, and counts rows."""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Max, Min

from annotate.models import Dataset, DatasetItem, DatasetTurn, Image, User
from annotate.models.protocols import STUDY
from benchmark.models import Attempt, Response, Run
from benchmark.models.runs import RunState
from benchmark.services import runs
from fpco_site.llm import prompts
from tests import factories
from tests.bench import _asking, _labelling
from tests.bench._asking import PICTURES, TURNS, WARM, Batch, Plan


def play(plan: Plan, address: str) -> dict[str, Any]:
    """Warm the worker up, so that no run pays for its start, then measure one run after the other."""
    ada = factories.person("ada")
    images = pictures(min(PICTURES, max(plan.batches)), size=plan.picture)
    datasets = [dataset(f"Batch {n}", items=size, images=images) for n, size in enumerate((WARM, *plan.batches))]
    if plan.say:
        tell(Path(plan.say), datasets[1])
    log = settings.DATA_DIR / "worker.log"
    with _asking.worker(log) as process:
        warm = ask(plan, address, datasets[0], by=ada, process=process, log=log)
        with labelling(datasets[0]) if plan.labelling else nullcontext({}) as labels:
            batches = [ask(plan, address, one, by=ada, process=process, log=log) for one in datasets[1:]]
    return {"batches": [vars(batch) for batch in batches], "warm": warm.answers, "labels": labels}


@contextmanager
def labelling(over: Dataset) -> Iterator[dict[str, float]]:
    """Two people label for the time of a block; what they met is in the dictionary afterwards."""
    met: dict[str, float] = {}
    with _labelling.web_server(settings.DATA_DIR / "web.log") as address:
        people = _labelling.Labelling(address, over)
        yield met
        met |= people.stop()


def pictures(number: int, *, size: int) -> list[Image]:
    """Real JPEG files of about `size` bytes, no two alike."""
    return [factories.image(data=photograph(size, index)) for index in range(number)]


def photograph(size: int, number: int) -> bytes:
    """A noisy picture, filled up to `size` after its end, where no reader looks."""
    import numpy as np
    from PIL import Image as Picture

    side = max(32, int((size / 0.9) ** 0.5) // 8 * 8)
    noise = np.random.default_rng(number).integers(0, 256, (side, side, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Picture.fromarray(noise).save(buffer, "JPEG", quality=50)
    data = buffer.getvalue()
    return data + bytes(max(0, size - len(data)))


def dataset(name: str, *, items: int, images: Sequence[Image]) -> Dataset:
    """A frozen dataset of the study's ten turns."""
    made = Dataset.objects.create(name=name, origin="frozen", protocol=dict(STUDY), dataset_hash=digest(name))
    rows = [item(made, number, images[number % len(images)]) for number in range(items)]
    DatasetItem.objects.bulk_create(rows, batch_size=1000)
    false = STUDY["false_turns"]
    turns = (
        DatasetTurn(
            item=row,
            number=number,
            false_premise=number in false,
            content=content,
            modified=modified if number in false else "",
        )
        for row in rows
        for number, (content, modified) in enumerate(
            zip(
                factories.questions(row.target_description),
                factories.questions(row.modified_target_description),
                strict=True,
            ),
            1,
        )
    )
    DatasetTurn.objects.bulk_create(turns, batch_size=5000)
    return made


def item(of: Dataset, number: int, image: Image) -> DatasetItem:
    return DatasetItem(
        dataset=of,
        key=f"item{number:06d}",
        image=image,
        sha256=image.sha256,
        image_name=f"{image.sha256}.jpg",
        complexity="single_clean",
        category="animal",
        premise_class=("identity", "attribute", "location")[number % 3],
        target="cat",
        target_description=f"the striped cat on chair {number}",
        modified_target_description=f"the striped dog on chair {number}",
    )


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def ask(plan: Plan, address: str, over: Dataset, *, by: User, process: Any, log: Path) -> Batch:
    """One run from its start to its end."""
    model = factories.model(
        provider=plan.provider,
        model_id="stub",
        base_url=address if plan.provider == "gemini" else f"{address}v1",
        api_key_env="STUB_KEY",
        concurrency=plan.lanes,
    )
    run = runs.create(model=model, dataset=over, by=by)
    before = _asking.cpu(process.pid)
    runs.start(run=run, by=by)
    _asking.wait_for(
        lambda: Run.objects.get(pk=run.pk).state not in (RunState.RUNNING, RunState.PAUSED), process=process, log=log
    )
    run.refresh_from_db()
    if run.state != RunState.COMPLETE or run.started_at is None or run.finished_at is None:
        raise RuntimeError(f"The run is {run.state}: {run.pause_reason}")
    return Batch(
        dialogues=over.items.count(),
        seconds=(run.finished_at - run.started_at).total_seconds(),
        answers=Response.objects.filter(dialogue__run=run).count(),
        attempts=Attempt.objects.filter(dialogue__run=run).count(),
        memory=_asking.memory(process.pid),
        cpu=_asking.cpu(process.pid) - before,
        tenths=tenths(run),
    )


def tenths(run: Run) -> tuple[float, ...]:
    """Answers stored a second in each tenth of the answers, in the order in which they were stored."""
    rows = Response.objects.filter(dialogue__run=run)
    ends = rows.aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is None:
        return ()
    marks = [ends["first"] + (ends["last"] - ends["first"]) * tenth // 10 for tenth in range(11)]
    times = [rows.filter(pk__lte=mark).order_by("-pk").values_list("created_at", flat=True)[0] for mark in marks]
    count = rows.count() / 10
    return tuple(count / max(1e-9, (b - a).total_seconds()) for a, b in pairwise(times))


def tell(path: Path, over: Dataset) -> None:
    """Write the dialogues down: the system prompt, and of each its picture and its questions as they are asked."""
    rows = [
        {
            "picture": row.image.file.path if row.image else "",
            "questions": [turn.asked for turn in row.turns.order_by("number")],
        }
        for row in over.items.select_related("image").order_by("key")
    ]
    path.write_text(json.dumps({"system": prompts.load(runs.PROMPT).text, "turns": TURNS, "dialogues": rows}))
