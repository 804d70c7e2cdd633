"""Server time of the pages where authors work, over a study of the published size: 1,080 items."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from tests import services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 7
BOUND = "bound: 150 ms"


def bench(servers: Servers) -> list[Figure]:
    """One figure a page, by the median of its repeats; the first view, which imports what it needs, is left out."""
    with services.temporary_folder() as folder:
        env = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        env |= {"FPCO_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "fpco_site.settings"}
        env |= {"CELERY_BROKER_URL": servers.broker}
        command = [sys.executable, "-m", "tests.bench.authoring"]
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True)
    return [
        Figure(f"1,080 items: {name}", 1000 * seconds, "ms", f"{queries} queries; {BOUND}; {path}")
        for name, seconds, queries, path in json.loads(done.stdout)
    ]


def main() -> None:
    """Make the study, then measure."""
    import django

    django.setup()
    logging.disable(logging.WARNING)
    from django.core.management import call_command

    from annotate.services import datasets
    from fpco_site import static_files
    from tests import factories, full_house

    call_command("migrate", interactive=False, verbosity=0)
    static_files.collect_if_changed()
    ada, ben = factories.person("ada"), factories.person("ben")
    full_house.build(author=ada, reviewer=ben, files=True)
    datasets.freeze(name="First", by=ada, only_approved=True)
    full_house.mend(by=ada)
    datasets.freeze(name="Second", by=ada, only_approved=True)
    sys.stdout.write(json.dumps(measure(ada.username)))


def addresses() -> list[tuple[str, str]]:
    """The pages that are measured: their name and an address."""
    from django.urls import reverse

    from annotate.models import Dataset, Image, Item

    one = {state: Item.objects.filter(state=state).order_by("pk")[50] for state in ("approved", "in_review", "draft")}
    second, first = Dataset.objects.order_by("-pk")
    cell = "complexity=single_clean&category=animal&premise_class=identity"
    item = second.items.order_by("key")[50]
    return [
        *_queues(cell),
        ("overview", reverse("overview")),
        ("grid of cells", reverse("cells")),
        ("one cell", f"{reverse('cell')}?{cell}"),
        ("placing", reverse("placing")),
        ("images", reverse("image_list")),
        ("images without a place", f"{reverse('image_list')}?place=unplaced"),
        ("one image", reverse("image_detail", args=[Image.objects.order_by("pk")[500].pk])),
        ("review of an item", reverse("item_review", args=[one["in_review"].key]) + "?state=in_review"),
        ("review of an approved item", reverse("item_review", args=[one["approved"].key])),
        ("editor", reverse("item_edit", args=[one["in_review"].key]) + "?state=in_review"),
        ("editor of a draft", reverse("item_edit", args=[one["draft"].key]) + "?state=draft"),
        ("history", reverse("item_history", args=[one["approved"].key])),
        ("move", reverse("item_move", args=[one["in_review"].key])),
        ("rules and quotas", reverse("study_settings")),
        ("check list before freezing", reverse("dataset_freeze")),
        ("datasets", reverse("dataset_list")),
        ("dataset", reverse("dataset_detail", args=[second.pk])),
        ("item of a dataset", reverse("dataset_item", args=[second.pk, item.pk])),
        ("provenance of an item", reverse("item_provenance", args=[second.pk, item.pk])),
        ("drafting", reverse("drafting_list")),
        ("variants", reverse("variant_list")),
        ("differences", f"{reverse('dataset_differences', args=[second.pk])}?from={first.pk}"),
    ]


def _queues(cell: str) -> list[tuple[str, str]]:
    """The review queue under several filters."""
    from django.urls import reverse

    queue = reverse("review_queue")
    return [
        ("queue", queue),
        ("queue, in review", f"{queue}?state=in_review"),
        ("queue, drafts", f"{queue}?state=draft"),
        ("queue, approved, page 5", f"{queue}?state=approved&page=5"),
        ("queue, one cell", f"{queue}?{cell}"),
        ("queue, search", f"{queue}?q=post+10"),
        ("queue, one author, newest", f"{queue}?author=ada&sort=newest"),
    ]


def measure(username: str) -> list[tuple[str, float, int, str]]:
    """Name, seconds, queries and address of each page, the slowest first."""
    from annotate.models import User
    from tests import demo_pages

    person = User.objects.get(username=username)
    client = demo_pages.client_of(person)
    rows = []
    for name, path in addresses():
        first, _ = demo_pages.look(client, person, path)
        assert first.status == 200, first
        again = [demo_pages.look(client, person, path)[0] for _ in range(REPEATS)]
        rows.append((name, median(one.seconds for one in again), len(again[-1].sql), path))
    return sorted(rows, key=lambda row: -row[1])


if __name__ == "__main__":
    main()
