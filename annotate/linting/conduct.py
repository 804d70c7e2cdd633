"""Names, unique identifiers, offensive words and guesses of sensitive attributes, in any text of an item."""

import codecs
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from annotate.drafting import occurrences
from annotate.linting import nouns
from annotate.linting.labels import is_person
from annotate.linting.phrases import WORD, phrase
from annotate.linting.rewrites import computed
from annotate.linting.sensitive import ASKING, SENSITIVE, sensitive
from annotate.linting.types import Finding, PlainItem, Severity, Span
from annotate.linting.words import DETERMINERS, is_look, is_thing, split

ABOUT_PERSONS = frozenset({ASKING, SENSITIVE})
FALSE = "modified_target_description"
OFFENSIVE = Path(__file__).with_name("offensive.rot13.txt")
# What identifies one person, vehicle or house. Error: certain; warning: a person must look.
CERTAIN = re.compile(
    r"""(?P<address_of_mail>[\w.+-]+@[\w-]+\.\w+)
    |(?P<address_of_a_page>\b(?:https?://|www\.)\S+)
    |(?P<account>(?<!\w)@\w{3,})
    |(?P<phone_number>(?<![\w.])\+?\(?\d{2,4}\)?(?:[ ./-]\d{2,4}){2,4}(?!\w))
    |(?P<street_address>\b\d+[A-Za-z]?\s+(?:[A-Z]\w+\s+){1,3}
        (?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Boulevard|Blvd|Square|Way|Court)\b)
    |(?P<number_plate>\b(?:
        [A-Z]{1,3}[ -]?\d{1,4}[ -]?[A-Z]{1,3}   # AB 12 CDE
        |[A-Z]{2,3}[ -]?\d{3,4}                 # ABC 123
        |\d{1,4}[ -]?[A-Z]{2,3}[ -]?\d{1,4}     # 12 AB 345
        |[A-Z]{1,3}-[A-Z]{1,2}[ -]?\d{1,4}      # B-AB 1234
    )\b)
    """,
    re.VERBOSE,
)
_HINT = re.compile(r"[\d@]|www|//")
POSSIBLE = re.compile(r"(?P<serial_number>\b(?=\w*\d)(?=\w*[A-Za-z])[A-Z0-9]{6,}\b|\b\d{4,}\b)")

# Marks after which a sentence may start.
ENDS = frozenset({".", "?", "!", ":", ";", "…", ""})
TITLE = split("mr mrs ms miss dr prof president queen king pope captain sir lady")
# Capitals that name no one in particular.
KNOWN = split(
    """i i'm i'd i'll i've ok tv t-shirt t-shirts v-neck x-ray led suv suvs bmx dj cd dvd usb rv atv u.s us uk french
    german swiss greek danish dutch english belgian siamese persian labrador dalmatian chihuahua rottweiler beagle
    christmas halloween easter thanksgiving victorian gothic roman arctic asian african indian american chinese japanese
    italian mexican spanish russian turkish irish scottish british australian monday tuesday wednesday thursday friday
    saturday sunday january february march april june july august september october november december santa caesar
    collie retriever shepherd terrier poodle husky stop exit open closed sale police ambulance atm wc no yes"""
)
SMALL = DETERMINERS | split(
    """is are was were do does did what where who which how why when can could would in on at by of to and or with for
    from there any near behind under"""
)
BREEDS = frozenset({"great dane", "saint bernard", "st bernard", "st. bernard"})
# First names that the table of nouns has as things; those of animals and dishes ("robin", "olive") are not here.
FIRST_NAMES = split(
    """james john timothy frank jack donna jean charlotte bob tom art mike jenny peter hazel holly victor max chuck gene
    dean earl lance mason carter cooper molly reed heath jade fanny tammy"""
)
BRANDS = split(
    """nike adidas puma reebok coca-cola pepsi sprite fanta mcdonald's starbucks ferrari lamborghini porsche toyota
    honda ford chevrolet bmw mercedes mercedes-benz audi volkswagen vw nissan hyundai kia mazda subaru tesla volvo fiat
    renault peugeot citroën škoda skoda suzuki yamaha kawasaki ducati harley harley-davidson vespa
    boeing airbus lufthansa ryanair iphone ipad samsung sony nokia canon nikon gopro google facebook instagram ikea
    heineken budweiser guinness nutella oreo kellogg's lego barbie disney gucci prada rolex levi's dhl fedex ups"""
)
LOWER_CASE_TOO = BRANDS - split("puma sprite corona ford canon ups subway")


class Text(NamedTuple):
    """A text to look at, with the descriptions in it masked: what they say is found where they stand."""

    field: str
    turn: int | None
    text: str


class Mark(NamedTuple):
    """What was found in a text, before it is known whose text it is."""

    code: str
    severity: Severity
    message: str
    span: Span


def conduct_findings(item: PlainItem) -> Iterator[Finding]:
    """What must stand in no text; what stands in both descriptions is said of the true one."""
    true, of_person = item.target_description, _may_be_person(item.target_description)
    known = {(mark.code, true[slice(*mark.span)].casefold()) for mark in marks(true, is_sentence=False)}
    for text in _texts(item):
        for mark in marks(text.text, is_sentence=text.turn is not None):
            said = (mark.code, text.text[slice(*mark.span)].casefold())
            idle = mark.code in ABOUT_PERSONS and mark.severity is Severity.WARNING and not of_person
            if not idle and (text.field != FALSE or said not in known):
                yield Finding(mark.code, mark.severity, mark.message, text.turn, mark.span, text.field)


def _may_be_person(description: str) -> bool:
    """Whether the target is a person as far as words tell: "How old is the barn?" asks for no guess."""
    target = phrase(description)
    label = target.said[target.head] if target.said else ""
    return is_person(label) or not is_thing(label)


def _texts(item: PlainItem) -> Iterator[Text]:
    yield Text("target_description", None, item.target_description)
    if item.modified_target_description != item.target_description:
        yield Text(FALSE, None, item.modified_target_description)
    for turn in item.turns:
        yield Text("content", turn.number, _masked(turn.content, item.target_description))
        if turn.modified.strip() and turn.modified != computed(item, turn):
            yield Text("modified", turn.number, _masked(turn.modified, item.modified_target_description))


def _masked(text: str, description: str) -> str:
    """The text with one letter, again and again, for the description: places stay the same."""
    for start, end in occurrences(text, description) if description.strip() else ():
        text = text[:start] + "x" * (end - start) + text[end:]
    return text


@lru_cache(maxsize=8192)
def marks(text: str, *, is_sentence: bool) -> tuple[Mark, ...]:
    """Everything that one text should not have, in the order in which it stands there.

    A description is no sentence: a capital at its start may be a name.
    """
    identifiers = list(_identifiers(text))
    taken = [mark.span for mark in identifiers]
    tokens = list(WORD.finditer(text))
    names = _names(text, tokens, is_sentence=is_sentence) if text[is_sentence:] != text[is_sentence:].lower() else ()
    found = [*identifiers, *(mark for mark in names if not _overlaps(mark.span, taken))]
    said = [token[0].casefold() for token in tokens]
    if not watched().isdisjoint(said):
        found += [*_brands(tokens), *_offensive(tokens)]
    found += [Mark(code, severity, message, span) for code, severity, message, span in sensitive(text, tokens, said)]
    return tuple(sorted(set(found), key=lambda mark: (mark.span, mark.code)))


def _overlaps(span: Span, others: list[Span]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


def _identifiers(text: str) -> Iterator[Mark]:
    if not _HINT.search(text):
        return
    certain = list(CERTAIN.finditer(text))
    for found in certain:
        kind = str(found.lastgroup).replace("_", " ")
        message = f"“{found[0]}” reads as a unique identifier ({kind})."
        yield Mark("identifier", Severity.ERROR, message, found.span())
    for found in POSSIBLE.finditer(text):
        if not _overlaps(found.span(), [one.span() for one in certain]):
            message = f"“{found[0]}” may be a unique identifier (a serial number or the like)."
            yield Mark("identifier_possible", Severity.WARNING, message, found.span())


def _names(text: str, tokens: list[re.Match[str]], *, is_sentence: bool) -> Iterator[Mark]:
    """Capitals inside a sentence, joined where they follow each other."""
    capitals = [token for place, token in enumerate(tokens) if _is_capital(text, tokens, place)]
    if tokens and not is_sentence and _is_unknown(tokens[0][0]):
        capitals.insert(0, tokens[0])
    titled = any(token[0].istitle() and token[0].casefold() in SMALL for token in _inner(text, tokens))
    for run in _runs(text, capitals)[: 1 if titled else None]:
        span = (run[0].start(), run[-1].end())
        said = text[slice(*span)]
        compound = len(run) > 1 and nouns.is_noun(" ".join(said.casefold().split()))
        if compound or all(t[0].casefold() in KNOWN for t in run):
            continue
        before = WORD.findall(text[: span[0]])[-1:]
        title = run[0][0].casefold() in TITLE or (before and before[0].casefold() in TITLE | {"named", "called"})
        if said.casefold() in BREEDS:
            continue
        certain = len(run) > 1 and not _is_kind(text[span[1] :])
        if (certain or title) and not titled and not said.isupper():
            yield Mark("name", Severity.ERROR, f"“{said}” reads as the name of a person or a place.", span)
        elif not any(token[0].casefold() in BRANDS for token in run):
            yield Mark("name_possible", Severity.WARNING, f"“{said}” may be a name.", span)


def _is_kind(after: str) -> bool:
    """Whether the name is that of a kind: "Jack Russell | terrier", "New York | cheesecake"."""
    words = WORD.findall(after)[:1]
    return bool(words) and words[0].islower() and nouns.kind(words[0]) in {"animal", "food"}


def _inner(text: str, tokens: list[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The words that start no sentence."""
    for token in tokens[1:]:
        if text[: token.start()].rstrip(" \"'“‘(")[-1:] not in ENDS:
            yield token


def _is_unknown(word: str) -> bool:
    """Whether a capital at the start of a description is of no word that may well stand there."""
    small = word.casefold()
    if small in FIRST_NAMES:
        return word.istitle()
    return word[0].isupper() and not (small in SMALL or small in KNOWN or is_look(small) or nouns.is_noun(small))


def _is_capital(text: str, tokens: list[re.Match[str]], place: int) -> bool:
    word = tokens[place][0]
    if not word[0].isupper() or word.casefold() in SMALL or any(letter.isdigit() for letter in word):
        return False
    if len(word) == 1 or (word.isupper() and word.casefold() in KNOWN):
        return False
    if place and tokens[place - 1][0].casefold() in TITLE:
        return True
    return bool(place) and text[: tokens[place].start()].rstrip(" \"'“‘(")[-1:] not in ENDS


def _runs(text: str, capitals: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    runs: list[list[re.Match[str]]] = []
    for token in capitals:
        if runs and not text[runs[-1][-1].end() : token.start()].strip(" ."):
            runs[-1].append(token)
        else:
            runs.append([token])
    return runs


def _brands(tokens: list[re.Match[str]]) -> Iterator[Mark]:
    for token in tokens:
        word = token[0].casefold()
        if word in BRANDS and (word in LOWER_CASE_TOO or token[0][0].isupper()):
            yield Mark(
                "brand", Severity.WARNING, f"“{token[0]}” is a brand; say what kind of thing it is.", token.span()
            )


def _offensive(tokens: list[re.Match[str]]) -> Iterator[Mark]:
    for token in tokens:
        word = token[0].casefold()
        if word in offensive():
            yield Mark("offensive", Severity.ERROR, "This word is offensive.", token.span())


@cache
def offensive() -> frozenset[str]:
    """Words that no text may have: kept in rot13, so that nobody reads them who doesn't want to."""
    lines = codecs.decode(OFFENSIVE.read_text(encoding="utf-8"), "rot13").splitlines()
    words = [line for line in lines if line and not line.startswith("#")]
    return frozenset(words) | {f"{word}s" for word in words}


@cache
def watched() -> frozenset[str]:
    """Brands and offensive words: most texts have none."""
    return BRANDS | offensive()
