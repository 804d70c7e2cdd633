"""Which kind of table of sources was given, told by its content: JSON of COCO, CSV of Open Images, or our own CSV."""

from annotate import coco, image_csv, open_images
from annotate.image_csv import Table


def parse(data: bytes, *, name: str) -> Table:
    """Read a table of any known kind. Raises Invalid, naming the file and the first line that is wrong."""
    if coco.fits(data):
        return coco.parse(data, name=name)
    first_line = data.partition(b"\n")[0].decode("utf-8-sig", "replace")
    if open_images.fits(first_line):
        return open_images.parse(data, name=name)
    return image_csv.parse(data, name=name)
