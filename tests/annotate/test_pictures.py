"""Every kind of picture file becomes the one form in which pictures are kept."""

import io
from itertools import product

import numpy as np
import pytest
from PIL import Image as Pillow

from annotate import pictures
from annotate.services import duplicates
from tests import factories

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
# Which turn of the pixels an EXIF orientation asks for, as Pillow's operations.
ORIENTATIONS = {
    1: None,
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}


def encoded(picture: Pillow.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def normalised(data: bytes, rotation: int = 0) -> Pillow.Image:
    kept = pictures.normalise(data, name="a", max_bytes=10**8, max_pixels=10**8, rotation=rotation)
    shown = Pillow.open(io.BytesIO(kept.data))
    shown.load()
    assert (shown.format, shown.mode, shown.size) == ("JPEG", "RGB", (kept.width, kept.height))
    assert set(shown.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    return shown


def corners(picture: Pillow.Image) -> list[tuple[int, ...]]:
    """The four corners' colours, rounded to whole channels: top left, top right, bottom left, bottom right."""
    at = product((picture.height // 8, picture.height * 7 // 8), (picture.width // 8, picture.width * 7 // 8))
    return [tuple(255 if channel > 127 else 0 for channel in picture.getpixel((x, y))) for y, x in at]  # type: ignore[union-attr]


def quarters(width: int = 96, height: int = 64) -> Pillow.Image:
    picture = Pillow.new("RGB", (width, height), RED)
    picture.paste(GREEN, (width // 2, 0, width, height // 2))
    picture.paste(BLUE, (0, height // 2, width // 2, height))
    picture.paste(WHITE, (width // 2, height // 2, width, height))
    return picture


def with_orientation(picture: Pillow.Image, orientation: int) -> bytes:
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    return encoded(picture, "JPEG", exif=exif, quality=95, subsampling=0)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_picture_stands_upright_whichever_way_the_camera_was_held(orientation: int) -> None:
    turn = ORIENTATIONS[orientation]
    wanted = quarters() if turn is None else quarters().transpose(turn)
    shown = normalised(with_orientation(quarters(), orientation))
    assert shown.size == wanted.size
    assert corners(shown) == corners(wanted)


@pytest.mark.parametrize(
    ("rotation", "turn"),
    [(90, Pillow.Transpose.ROTATE_90), (180, Pillow.Transpose.ROTATE_180), (270, Pillow.Transpose.ROTATE_270)],
)
def test_a_tables_rotation_turns_counter_clockwise(rotation: int, turn: Pillow.Transpose) -> None:
    shown = normalised(encoded(quarters()), rotation)
    assert shown.size == quarters().transpose(turn).size
    assert corners(shown) == corners(quarters().transpose(turn))


@pytest.mark.parametrize(("orientation", "rotation"), [(8, 90), (3, 180), (6, 270)])
def test_a_turn_that_exif_and_table_both_name_is_made_once(orientation: int, rotation: int) -> None:
    turn = ORIENTATIONS[orientation]
    assert turn is not None
    shown = normalised(with_orientation(quarters(), orientation), rotation)
    assert corners(shown) == corners(quarters().transpose(turn))


def test_another_turn_of_the_table_is_made_on_top_of_that_of_exif() -> None:
    shown = normalised(with_orientation(quarters(), 3), 90)
    wanted = quarters().transpose(Pillow.Transpose.ROTATE_180).transpose(Pillow.Transpose.ROTATE_90)
    assert shown.size == wanted.size
    assert corners(shown) == corners(wanted)


def in_mode(mode: str) -> bytes:
    rgb = quarters()
    if mode in {"CMYK", "L"}:
        return encoded(rgb.convert(mode), "JPEG", quality=95)
    if mode == "P with transparency":
        palette = rgb.quantize(8)
        return encoded(palette, "PNG", transparency=palette.getpixel((90, 60)))
    if mode == "I;16":
        ramp = np.asarray(rgb.convert("L"), dtype=np.uint16) * 257
        return encoded(Pillow.fromarray(ramp), "PNG")
    if mode == "F":
        return encoded(Pillow.fromarray(np.asarray(rgb.convert("L"), dtype=np.float32) / 255), "TIFF")
    if mode == "MPO":
        return encoded(rgb, "MPO", save_all=True, append_images=[Pillow.new("RGB", rgb.size, BLUE)])
    if mode == "animated GIF":
        return encoded(rgb, "GIF", save_all=True, append_images=[Pillow.new("RGB", rgb.size, BLUE)])
    kind = {"YCbCr": "TIFF", "LAB": "TIFF", "WEBP": "WEBP", "AVIF": "AVIF", "BMP": "BMP", "PPM": "PPM"}.get(mode, "PNG")
    return encoded(rgb if mode == kind else rgb.convert(mode), kind)


COLOURS = ["CMYK", "P", "P with transparency", "RGBA", "MPO", "animated GIF", "WEBP", "AVIF", "BMP", "PPM", "YCbCr"]


@pytest.mark.parametrize("mode", COLOURS)
def test_every_kind_of_colour_becomes_rgb_and_keeps_its_colours(mode: str) -> None:
    assert corners(normalised(in_mode(mode))) == [RED, GREEN, BLUE, WHITE]


@pytest.mark.parametrize("mode", ["L", "LA", "1", "I;16", "F"])
def test_every_kind_of_grey_becomes_rgb_and_keeps_its_tones(mode: str) -> None:
    shown = normalised(in_mode(mode))
    wanted = quarters().convert("1" if mode == "1" else "L").convert("RGB")
    for x, y in ((10, 10), (80, 10), (10, 50), (80, 50)):
        box = (x, y, x + 8, y + 8)
        assert abs(np.asarray(shown.crop(box)).mean() - np.asarray(wanted.crop(box)).mean()) < 6


@pytest.mark.parametrize("change", ["quality", "size", "brightness"])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_sight_is_near_and_another_is_not(seed: int, change: str) -> None:
    picture = Pillow.open(io.BytesIO(factories.photograph(seed, size=(640, 480))))
    changed = {
        "quality": Pillow.open(io.BytesIO(factories.photograph(seed, size=(640, 480), quality=30))),
        "size": picture.resize((320, 240)),
        "brightness": picture.point(lambda value: min(255, int(value * 1.1))),
    }[change]
    other = Pillow.open(io.BytesIO(factories.photograph(seed + 1, size=(640, 480))))
    same, another = (bits_apart(picture, one) for one in (changed, other))
    assert same <= duplicates.NEAR < another


def bits_apart(first: Pillow.Image, second: Pillow.Image) -> int:
    return (int(pictures.perceptual_hash(first), 16) ^ int(pictures.perceptual_hash(second), 16)).bit_count()


def test_a_plain_surface_looks_like_nothing() -> None:
    for colour in (RED, WHITE, (12, 34, 56)):
        assert not duplicates.has_detail(pictures.perceptual_hash(Pillow.new("RGB", (64, 48), colour)))
    assert duplicates.has_detail(pictures.perceptual_hash(Pillow.open(io.BytesIO(factories.photograph(1)))))
