"""Whether a label is a clearly incompatible one for another: what an identity premise must be.

Kinds of things come from WordNet; people's labels from the lists here, since what matters between them
(gender and age) is spread too thin there, and so do labels that are near in everyday speech alone.
"""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from annotate.linting import nouns
from annotate.linting.nouns import Relation
from annotate.linting.words import split


class Fit(StrEnum):
    """What a second label is to a first: no premise at all, doubtful, or a good one as far as words tell."""

    SOFT = "soft"
    NEAR = "near"
    COMPATIBLE = "compatible"
    CLEAR = "clear"


class Verdict(NamedTuple):
    """How two labels fit, and why, as the rest of a sentence."""

    fit: Fit
    reason: str


# People by gender and age: two of one row are soft, since only age or tone differs.
WOMEN = split("woman girl lady female gal madam grandma grandmother granny mother mom daughter sister schoolgirl")
MEN = split("man boy guy gentleman male dude grandpa grandfather father dad son brother schoolboy fellow bloke lad")
ANY_AGE = split("person human individual someone somebody people adult figure")
YOUNG = split("child kid toddler baby infant teenager teen youth youngster")
GENDERED = WOMEN | MEN
PERSONS = GENDERED | ANY_AGE | YOUNG

# Two of one row are the same kind, of another age or in other words.
SAME_KIND = tuple(
    map(
        split,
        (
            "dog puppy pup hound doggy doggie",
            "cat kitten kitty housecat",
            "horse pony foal colt filly mare",
            "horse stallion",
            "cow calf cattle heifer",
            "cow ox",
            "bull calf",
            "bull cattle",
            "sheep lamb ewe",
            "sheep ram",
            "chicken hen chick",
            "chicken rooster",
            "rabbit bunny",
            "pig piglet hog swine",
            "duck duckling",
            "goose gosling",
            "deer fawn doe",
            "deer stag",
            "bear cub",
            "lion lioness",
            "car automobile auto",
            "car taxi cab",
            "taxi cab",
            "truck lorry",
            "bike bicycle cycle",
            "bike motorbike motorcycle",
            "plane airplane aeroplane aircraft",
            "donut doughnut",
            "bus coach",
            "fries chips",
            "sofa couch",
            "soda cola",
        ),
    )
)
# Two of one row overlap in everyday speech: a person must look at the picture.
NEAR = tuple(
    map(
        split,
        (
            "bull cow ox",
            "mare stallion",
            "hen rooster cock",
            "ewe ram",
            "doe stag",
            "rabbit hare",
            "donkey mule",
            "pigeon dove",
            "crow raven",
            "turtle tortoise",
            "frog toad",
            "alligator crocodile",
            "leopard jaguar cheetah",
            "boat ship ferry yacht",
            "car van suv",
            "van minibus minivan",
            "truck pickup van",
            "tram train trolley",
            "train locomotive",
            "scooter moped motorcycle motorbike",
            "sandwich toast burger hamburger",
            "cake cupcake muffin pastry",
            "cookie biscuit cracker",
            "pancake crepe waffle",
            "soup broth stew chowder",
            "noodles pasta spaghetti",
            "bread toast bun roll",
            "cup mug glass",
            "plate dish",
            "lemon lime",
            "orange tangerine mandarin clementine",
            "peach nectarine apricot",
            "yogurt cream",
            "shrimp prawn",
        ),
    )
)
# Broader and narrower in the table of nouns, and two kinds in everyday speech.
APART = frozenset({split("canoe kayak")})
# Broader labels of everyday speech that WordNet files elsewhere.
BROADER = {
    "vehicle": split("bus train tram taxi locomotive streetcar trolley rocket helicopter"),
    "boat": split("sailboat rowboat motorboat canoe kayak gondola dinghy raft"),
    "ship": split("warship freighter tanker liner"),
    "pet": split("dog cat rabbit puppy kitten hamster parrot goldfish"),
    "drink": split("coffee tea juice milk water beer wine soda cocktail lemonade smoothie"),
    "dessert": split("cake cupcake donut doughnut pudding pie cookie brownie"),
    "fruit": split(
        "apple orange banana lemon lime fig pear grape peach plum cherry strawberry mango kiwi melon tomato"
    ),
    "vegetable": split("carrot broccoli tomato potato cucumber pepper onion lettuce cabbage corn spinach"),
    "meal": split("pizza salad soup sandwich burger pasta breakfast lunch dinner"),
    "food": split("fig lime egg corn olive date pepper"),
    "bread": split("toast baguette bun roll bagel"),
}


@lru_cache(maxsize=20_000)
def fit(old: str, new: str) -> Verdict:
    """How the second label fits as a premise for the first.

    Examples
    --------
    >>> fit("woman", "girl").fit, fit("woman", "man").fit, fit("boat", "ship").fit, fit("man", "chef").fit
    (<Fit.SOFT: 'soft'>, <Fit.CLEAR: 'clear'>, <Fit.NEAR: 'near'>, <Fit.COMPATIBLE: 'compatible'>)
    """
    old, new = nouns.singular(old), nouns.singular(new)
    if old == new:
        return Verdict(Fit.SOFT, "the two are the same label")
    if is_person(old) and is_person(new):
        return _people(old, new)
    return _things(old, new)


@lru_cache(maxsize=20_000)
def is_person(word: str) -> bool:
    """Whether a word names a person."""
    return nouns.singular(word) in PERSONS or nouns.kind(word) == "person"


def _people(old: str, new: str) -> Verdict:
    """Genders exclude each other, and so may roles; ages of one gender are soft; a role says nothing of gender."""
    both = {old, new}
    if both & ANY_AGE:
        return Verdict(Fit.SOFT, "one is the broader label of the other")
    if both <= WOMEN or both <= MEN:
        return Verdict(Fit.SOFT, "only age or tone differs")
    if both <= YOUNG:
        return Verdict(Fit.SOFT, "only age differs")
    if both <= GENDERED:
        return Verdict(Fit.CLEAR, "")
    if both & YOUNG and both & split("boy girl son daughter schoolboy schoolgirl lad"):
        return Verdict(Fit.SOFT, "one is the broader label of the other")
    if both & YOUNG and both & GENDERED:
        return Verdict(Fit.NEAR, "only age may differ")
    found = _things(old, new)
    if found.fit is Fit.CLEAR and both & (GENDERED | YOUNG):
        return Verdict(Fit.COMPATIBLE, "one person may be both")
    return found


def _things(old: str, new: str) -> Verdict:
    if any(old in group and new in group for group in SAME_KIND):
        return Verdict(Fit.SOFT, "the two are the same kind")
    if new in BROADER.get(old, ()) or old in BROADER.get(new, ()):
        return Verdict(Fit.SOFT, "one is the broader label of the other")
    found = nouns.related(old, new)
    if frozenset({old, new}) in APART:
        return Verdict(Fit.NEAR, "the two are near in kind")
    if found.relation is not Relation.NONE:
        same = found.relation is Relation.SAME
        reason = "the two are the same in other words" if same else "one is the broader label of the other"
        return Verdict(Fit.SOFT if found.sure else Fit.NEAR, reason)
    if any(old in group and new in group for group in NEAR):
        return Verdict(Fit.NEAR, "the two are near in kind")
    return Verdict(Fit.CLEAR, "")
