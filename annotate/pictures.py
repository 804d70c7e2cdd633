"""From the bytes of any picture file to the one form in which pictures are kept.

Kept pictures are upright, RGB, sRGB, without metadata, JPEG: what an author sees is what a model is sent.
"""

import io
from dataclasses import dataclass
from pathlib import PurePosixPath

from PIL import Image as Pillow
from PIL import ImageCms, ImageOps, UnidentifiedImageError

from fpco_site.errors import Invalid

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "AVIF", "PPM")  # JPEG brings MPO with it
SUFFIXES = frozenset(["jpg", "jpeg", "jpe", "mpo", "png", "webp", "tif", "tiff", "bmp", "gif", "avif", "ppm", "pgm"])
UNREAD = frozenset(["heic", "heif", "jxl", "jp2", "svg", "psd", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf"])
MIMES = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
QUALITY = 95
LONGEST_JPEG_SIDE = 65_500
HASHED_SIDE = 128  # a picture is reduced to about this before it is hashed from 32 x 32: a sixth of the time
_ORIENTATION = 0x0112
_EXIF_TURNS = {3: 180, 6: 270, 8: 90}  # degrees, counter-clockwise


def named_as_picture(path: str) -> bool:
    """Whether a file is one of a picture by its name; kinds that can't be read are refused by name."""
    suffix = PurePosixPath(path).suffix.lower().lstrip(".")
    return suffix in SUFFIXES or suffix in UNREAD


@dataclass(frozen=True)
class Picture:
    """A picture to be kept: the bytes as stored, in pixels, and its perceptual hash (16 hex digits)."""

    data: bytes
    mime: str
    width: int
    height: int
    phash: str


def normalise(data: bytes, *, name: str, max_bytes: int, max_pixels: int, rotation: int = 0) -> Picture:
    """Decode `data` once and bring it into the form that is kept. Raises Invalid, naming the file.

    `rotation` is what a table says of the file beside its EXIF: 0, 90, 180 or 270 degrees, counter-clockwise.
    """
    opened = _open(data, name=name, max_bytes=max_bytes, max_pixels=max_pixels)
    try:
        upright = _rgb(_srgb(_upright(opened, rotation)))
    except Exception as error:  # of broken bytes each decoder raises what its library does
        raise Invalid(f"{name} is damaged or cut off and can't be read.") from error
    if max(upright.size) > LONGEST_JPEG_SIDE:
        raise Invalid(f"{name} is {upright.width} x {upright.height} pixels; a side may have {LONGEST_JPEG_SIDE:,}.")
    buffer = io.BytesIO()
    upright.save(buffer, "JPEG", quality=QUALITY)
    return Picture(buffer.getvalue(), MIMES["JPEG"], upright.width, upright.height, perceptual_hash(upright))


def inspect(data: bytes, *, name: str, max_bytes: int, max_pixels: int) -> Picture:
    """`data` itself as a kept picture, not encoded anew, for pictures of a release. Raises Invalid."""
    opened = _open(data, name=name, max_bytes=max_bytes, max_pixels=max_pixels)
    if opened.format not in MIMES:
        raise Invalid(f"{name} is a {opened.format} file; a release holds JPEG, PNG or WebP pictures.")
    mime = MIMES[opened.format]
    try:
        shown = _rgb(opened)
    except Exception as error:
        raise Invalid(f"{name} is damaged or cut off and can't be read.") from error
    return Picture(data, mime, shown.width, shown.height, perceptual_hash(shown))


def thumbnail(data: bytes, *, side: int) -> bytes:
    """A smaller JPEG that fits into a square of `side` pixels."""
    small = Pillow.open(io.BytesIO(data), formats=FORMATS)
    small.draft("RGB", (side * 2, side * 2))
    small = _rgb(small)
    small.thumbnail((side, side), Pillow.Resampling.LANCZOS)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def perceptual_hash(picture: Pillow.Image) -> str:
    """pHash, 64 bits: near the same for pictures that look the same."""
    import imagehash  # brings SciPy, which takes long to import

    grey = picture.convert("L")
    return str(imagehash.phash(grey.reduce(max(1, min(grey.size) // HASHED_SIDE))))


def _open(data: bytes, *, name: str, max_bytes: int, max_pixels: int) -> Pillow.Image:
    if not data:
        raise Invalid(f"{name} is empty.")
    if len(data) > max_bytes:
        raise Invalid(f"{name} has {len(data):,} bytes; at most {max_bytes:,} are allowed.")
    try:
        opened = Pillow.open(io.BytesIO(data), formats=FORMATS)
    except Pillow.DecompressionBombError as error:
        raise Invalid(f"{name} has too many pixels; at most {max_pixels:,} are allowed.") from error
    except UnidentifiedImageError as error:
        raise Invalid(f"{name} is not a picture of a known format (JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF).") from error
    except Exception as error:
        raise Invalid(f"{name} is damaged or cut off and can't be read.") from error
    if opened.width * opened.height > max_pixels:
        raise Invalid(
            f"{name} has {opened.width:,} x {opened.height:,} pixels; at most {max_pixels:,} in all are allowed."
        )
    return opened


def _upright(picture: Pillow.Image, rotation: int) -> Pillow.Image:
    """Turned as EXIF says, then as the table says, unless the table repeats the turn that EXIF has brought about."""
    picture.load()
    try:
        orientation = int(picture.getexif().get(_ORIENTATION, 1))
        turned = ImageOps.exif_transpose(picture)
    except Exception:
        orientation, turned = 1, picture  # the pixels are fine, only the metadata is not
    if not rotation or rotation == _EXIF_TURNS.get(orientation):
        return turned
    return turned.rotate(rotation, expand=True)  # a quarter turn moves pixels and resamples none


def _srgb(picture: Pillow.Image) -> Pillow.Image:
    """Colours of another profile brought to sRGB, since the profile is not kept."""
    profile = picture.info.get("icc_profile")
    if not profile or picture.mode not in {"RGB", "CMYK", "L"}:
        return picture
    try:
        own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        changed = ImageCms.profileToProfile(picture, own, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except Exception:
        return picture  # a broken profile says nothing about the colours
    return changed or picture


def _rgb(picture: Pillow.Image) -> Pillow.Image:
    """Eight bits of red, green and blue: transparency on white, deep greys scaled down."""
    picture.load()
    if picture.mode in {"I", "F"} or picture.mode.startswith("I;16"):
        return _eight_bits(picture).convert("RGB")
    if picture.has_transparency_data:
        seen = picture.convert("RGBA")
        white = Pillow.new("RGB", seen.size, (255, 255, 255))
        white.paste(seen, mask=seen.getchannel("A"))
        return white
    plain = picture.convert("RGB")  # a copy, also of what is RGB
    plain.info = {}  # so that nothing of the file's metadata is written again
    return plain


def _eight_bits(picture: Pillow.Image) -> Pillow.Image:
    """A grey picture of 16 bits, 32 bits or floats (0 to 1, else 0 to 255) as one of 8."""
    import numpy as np

    values = np.asarray(picture, dtype=np.float64)
    top = float(values.max(initial=0.0))
    if picture.mode == "F":
        scale = 255.0 if top <= 1.0 else 1.0
    else:
        scale = 255.0 / 65535.0 if top <= 65535.0 else 255.0 / top
    return Pillow.fromarray(np.clip(np.rint(values * scale), 0, 255).astype(np.uint8), mode="L")
