"""Reads the picture of a connection test off its pixels, as a model that sees would."""

import io

from PIL import Image, ImageChops

from fpco_site.llm.connection import sight


def read(png: bytes) -> str:
    """The number and the colour, such as "417 red"."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    number = "".join(_digit(image, place) for place in range(3))
    left, top, right, bottom = sight.SHAPE
    middle = image.getpixel(((left + right) // 2, (top + bottom) // 2))
    return f"{number} {next(name for name, colour in sight.COLOURS.items() if colour == middle)}"


def _digit(image: Image.Image, place: int) -> str:
    left, top = sight.FIRST_CELL[0] + place * sight.CELL[0], sight.FIRST_CELL[1]
    cell = image.crop((left, top, left + sight.CELL[0], top + sight.CELL[1]))
    return next(
        digit for digit in "0123456789" if ImageChops.difference(cell, sight.draw_digit(digit)).getbbox() is None
    )
