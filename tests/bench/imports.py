"""An import of 1,080 photographs of 640 x 480, against the time that Pillow alone needs for the same files."""

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
FILES, WIDTH, HEIGHT = 1080, 640, 480


def bench(servers: Servers) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        write_photographs(Path(folder))
        figures = []
        for name, address in (("SQLite", ""), ("PostgreSQL", servers.postgres)):
            alone, imported = measure(Path(folder), address)
            note = f"{FILES:,} JPEG files of {WIDTH} x {HEIGHT}, {name}"
            figures += [
                Figure("Pillow alone: decode, turn upright, encode", alone, "s", note),
                Figure("import of a folder", imported, "s", note),
                Figure("import / Pillow alone", imported / alone, "x", f"bound: 3; {name}"),
            ]
    return figures


def write_photographs(folder: Path) -> None:
    """Pictures with the detail of photographs: shades, shapes and noise, a few on their side by EXIF."""
    import numpy as np
    from PIL import Image

    draw = np.random.default_rng(1080)
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
    for number in range(FILES):
        coarse = Image.fromarray(draw.integers(0, 256, (9, 12, 3), dtype=np.uint8))
        shapes = np.asarray(coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC), dtype=np.float32)
        shade = (across * draw.random() / WIDTH + down * draw.random() / HEIGHT)[..., None] * 90
        noise = draw.normal(0, 6, (HEIGHT, WIDTH, 3))
        picture = Image.fromarray(np.clip(shapes * 0.6 + shade + noise, 0, 255).astype(np.uint8))
        exif = Image.Exif()
        exif[0x0112] = 6 if number % 10 == 0 else 1
        picture.save(folder / f"{number:04}.jpg", quality=90, exif=exif)


def measure(folder: Path, address: str) -> tuple[float, float]:
    """Both times, in seconds, of one fresh process with a database of its own."""
    with tempfile.TemporaryDirectory() as data:
        env = {**os.environ, "FPCO_DATA_DIR": data, "CELERY_BROKER_URL": "memory://", "FPCO_LOG_LEVEL": "WARNING"}
        env["DATABASE_URL"] = _own_database(address, data)
        command = [sys.executable, "-m", "tests.bench.imports", str(folder)]
        said = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout.split()
    return float(said[-2]), float(said[-1])


def _own_database(address: str, data: str) -> str:
    if not address:
        return f"sqlite:///{data}/bench.sqlite3"
    import psycopg

    name = f"imports_{os.getpid()}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
    return address.replace("/postgres?", f"/{name}?")


def main(folder: Path) -> None:
    """Time both in this process; the service is imported beforehand, as in a worker."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "fpco_site.settings"
    django.setup()
    from django.core.management import call_command

    import fpco_site.celery  # noqa: F401
    from annotate.services import imports
    from fpco_site.llm.engine.takeovers import Stop

    call_command("migrate", verbosity=0)
    alone = time_alone(folder)
    begun = time.perf_counter()
    batch = imports.begin_folder(folder=folder, table=None, by=None)
    imports.work(batch=batch, token=imports.claim(batch), stop=Stop())
    seconds = time.perf_counter() - begun
    if batch.files.filter(outcome="added").count() != FILES:
        raise RuntimeError("Not every file was added.")
    sys.stdout.write(f"{alone} {seconds}\n")


def time_alone(folder: Path) -> float:
    """Seconds that Pillow needs to read, decode, turn and write the same files, nothing stored twice or hashed."""
    from PIL import Image, ImageOps

    from annotate.pictures import QUALITY

    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as kept:
        for path in sorted(folder.iterdir()):
            picture = ImageOps.exif_transpose(Image.open(io.BytesIO(path.read_bytes()))).convert("RGB")
            picture.save(Path(kept) / path.name, "JPEG", quality=QUALITY)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main(Path(sys.argv[1]))
