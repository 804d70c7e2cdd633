"""What a licence lets a release do with a picture's pixels; pure, from the licence's name and address.

`open` means that the picture may be passed on in the form in which it is kept here: turned upright, converted and
compressed anew, which is a derivative work. So licences without derivatives are not open, however freely they
may be copied; licences for non-commercial use are.
"""

import re
from enum import StrEnum


class Kind(StrEnum):
    OPEN = "open"
    NO_DERIVATIVES = "no_derivatives"
    UNKNOWN = "unknown"


SENTENCES = {
    Kind.OPEN: "",
    Kind.NO_DERIVATIVES: "Its licence allows no derivatives: a release leaves its pixels out.",
    Kind.UNKNOWN: "Its licence is not known: a release leaves its pixels out.",
}

_CC_URL = re.compile(
    r"(?:^|//|\.)creativecommons\.org/(?:licenses/(?P<parts>[a-z+-]+)|(?P<zero>publicdomain/(?:zero|mark))|licen[cs]es)"
)
_CC_PARTS = frozenset({"by", "sa", "nc", "nd"})
# The addresses that COCO and museums give for what has no copyright, and those of free licences of software and text.
_OPEN_URL = re.compile(
    r"(?:flickr\.com/commons/usage|usa\.gov/(?:copyright|government-works|government-copyright)|"
    r"rightsstatements\.org/(?:vocab|page)/(?:nkc|noc-us|noc-oklr)|artlibre\.org|unlicense\.org|"
    r"gnu\.org/(?:licenses|copyleft)|apache\.org/licenses|opensource\.org/licen[cs]es?/|opendatacommons\.org/licenses)"
)
_RESERVED = re.compile(
    r"all rights reserved|copyrighted|©|\bproprietary\b|rights[ -]managed|do not (?:copy|distribute)|"
    r"\bnot (?:in (?:the )?)?public domain"
)
_NO_DERIVATIVES = re.compile(r"no[ -]?deriv|\bnd\b")
_OPEN_NAMES = (
    re.compile(r"\bcc ?0\b|\bcc ?zero\b|\bcreative commons zero\b"),
    re.compile(r"\b(?:cc|creative commons)\b.*\b(?:by|attribution)\b|\bcc ?by\b|^by(?: (?:nc|sa))*(?: [\d. ]+)?$"),
    re.compile(r"^attribution(?: (?:non ?commercial|share ?alike|generic|unported|international|licen[cs]e|[\d.]+))*$"),
    re.compile(r"\b(?:public domain|pdm|cc pd|pd (?:old|us|self|usgov|user|art|nasa))\b|^pd$"),
    re.compile(r"\bno (?:known )?copyright\b|\bnot (?:in|under) copyright\b"),
    re.compile(r"\b(?:united states|u ?s|us federal) gov(?:ernment|t)?\b.*\bworks?\b|\bwork of the u(?:nited )?s"),
    re.compile(r"^(?:nasa|noaa|usgs|usda)(?: image| images| media)?$|^nasa\b.*\b(?:works?|images?|media|guidelines)\b"),
    re.compile(r"^(?:gnu )?(?:[al]?gpl|gfdl)\b|\bgnu (?:lesser |affero )?(?:general public|free documentation)\b"),
    re.compile(r"^(?:mit|apache|bsd|isc|unlicense|wtfpl|odbl|free art|artistic)\b"),
)


def classify(name: str, url: str = "") -> Kind:
    """What the name and the address of a licence say together; where one forbids what the other allows, it is kept to.

    Parameters
    ----------
    name, url : str
        As a source writes them, in any spelling; either may be blank. Only the address of a licence counts, not that
        of a page about the picture.
    """
    said = {_of_name(name), _of_url(url)}
    if Kind.NO_DERIVATIVES in said:
        return Kind.NO_DERIVATIVES
    if _RESERVED.search(name.casefold()):
        return Kind.UNKNOWN
    return Kind.OPEN if Kind.OPEN in said else Kind.UNKNOWN


def sentence(name: str, url: str = "") -> str:
    """Why a release leaves the pixels out; blank where it doesn't."""
    return SENTENCES[classify(name, url)]


def _of_url(url: str) -> Kind:
    text = url.strip().casefold()
    found = _CC_URL.search(text)
    if found is None:
        return Kind.OPEN if _OPEN_URL.search(text) else Kind.UNKNOWN
    if found["zero"]:
        return Kind.OPEN
    parts = set(re.split(r"[-+]", found["parts"] or ""))
    if "nd" in parts:
        return Kind.NO_DERIVATIVES
    return Kind.OPEN if "publicdomain" in parts or (parts and parts <= _CC_PARTS) else Kind.UNKNOWN


def _of_name(name: str) -> Kind:
    text = name.strip().casefold()
    if "creativecommons.org" in text:
        return _of_url(text)
    words = " ".join(re.sub(r"[^\w.]+|_|(?<!\d)\.|\.(?!\d)", " ", text).split())
    if _NO_DERIVATIVES.search(words):
        return Kind.NO_DERIVATIVES
    return Kind.OPEN if any(pattern.search(words) for pattern in _OPEN_NAMES) else Kind.UNKNOWN
