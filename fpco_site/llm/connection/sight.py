"""A picture that nobody can know: its number and colour are drawn anew for each test and stand only in the pixels."""

import io
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

COLOURS = {"red": (214, 40, 40), "green": (30, 150, 60), "blue": (30, 80, 210), "yellow": (245, 205, 20)}
SIZE = (480, 320)
MIME = "image/png"
CELL = (130, 160)  # of one digit
FIRST_CELL = (45, 10)
SHAPE = (180, 185, 300, 305)
INK, PAPER = (0, 0, 0), (255, 255, 255)
_ADJECTIVES = ("calm", "brave", "quiet", "gentle", "clever", "sunny", "windy", "early", "frosty", "hollow", "lucky")
_NOUNS = (
    "lantern",
    "harbour",
    "meadow",
    "violin",
    "compass",
    "teapot",
    "ladder",
    "island",
    "marble",
    "feather",
    "anchor",
)
_WORDS = (_ADJECTIVES, _NOUNS, ("seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen"))


@dataclass(frozen=True)
class Shown:
    """What one test shows and says: a three-digit number, the colour of a shape, and a name for the picture.

    Guessing number and colour succeeds once in 3,600 times, the name once in 968.
    """

    number: str
    colour: str
    name: str

    def as_json(self) -> dict[str, str]:
        return {"number": self.number, "colour": self.colour, "name": self.name}


def fresh() -> Shown:
    """Another one for each test, by the system's own randomness: a model that was tested before knows nothing."""
    adjective, noun, count = (secrets.choice(words) for words in _WORDS)
    return Shown(str(100 + secrets.randbelow(900)), secrets.choice(list(COLOURS)), f"{adjective} {noun} {count}")


def draw(shown: Shown) -> bytes:
    """The picture as PNG: three digits above a disc of the colour."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, PAPER)
    for place, digit in enumerate(shown.number):
        image.paste(draw_digit(digit), (FIRST_CELL[0] + place * CELL[0], FIRST_CELL[1]))
    ImageDraw.Draw(image).ellipse(SHAPE, fill=COLOURS[shown.colour])
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def draw_digit(digit: str) -> "Image.Image":
    """One digit, black on white, in the middle of its cell."""
    from PIL import Image, ImageDraw, ImageFont

    cell = Image.new("RGB", CELL, PAPER)
    middle = (CELL[0] / 2, CELL[1] / 2)
    ImageDraw.Draw(cell).text(middle, digit, fill=INK, font=ImageFont.load_default(150), anchor="mm")
    return cell


def was_seen(text: str, shown: Shown) -> bool:
    """Strictly: the number and no other, the colour and no other. Thoughts in `<think>` tags are no answer."""
    said = _answer(text)
    colours = {colour for colour in COLOURS if re.search(rf"\b{colour}\b", said)}
    return set(re.findall(r"\d+", said)) == {shown.number} and colours == {shown.colour}


def was_remembered(text: str, shown: Shown) -> bool:
    """Whether the name from the first message comes back, word by word."""
    return re.search(rf"\b{r'\W+'.join(shown.name.split())}\b", _answer(text)) is not None


def _answer(text: str) -> str:
    return re.sub(r"<think>.*?(</think>|\Z)", " ", text, flags=re.DOTALL).lower()
