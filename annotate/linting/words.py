"""Small word lists: enough to tell a likely slip from a likely good change, no dictionary."""

from collections.abc import Iterable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words("the a an this that these those his her its their my your our")
PRONOUNS = _words("""he him his himself she her hers herself it its itself they them their theirs themselves""")
STAND_INS = _words("he him she it they them this that these those one")
FEMALE_PRONOUNS = _words("she her hers herself")
MALE_PRONOUNS = _words("he him his himself")
FEMALE = _words("woman women girl girls lady ladies mother grandmother sister daughter bride waitress actress queen")
MALE = _words("man men boy boys gentleman guy father grandfather brother son groom waiter actor king")

COLOURS = _words(
    """red orange yellow green blue purple violet pink brown black white gray grey silver golden gold beige tan cream
    turquoise teal maroon navy crimson scarlet ivory blond blonde dark-blue light-blue dark-green light-green"""
)
MATERIALS = _words(
    "wooden metal metallic plastic glass leather paper cotton woolen woollen steel ceramic stone brick denim silk straw"
)
LOOKS = _words(
    """striped spotted plain checkered checked patterned dotted shiny matte smiling frowning laughing crying serious
    sleepy angry happy sad calm open closed empty full wet dry clean dirty dark light bright pale long short curly
    straight large small big little tiny huge tall thick thin wide narrow old young new round square oval triangular
    sliced whole raw cooked burnt grilled fried fresh fluffy shaggy furry smooth bald bearded floppy pointed
    rusty broken folded halved long-haired short-haired gray-haired grey-haired"""
)
ATTRIBUTES = COLOURS | MATERIALS | LOOKS

PLACES = _words(
    """left right top bottom middle center centre front back foreground background corner edge side above below under
    underneath beneath over behind beside between near inside outside across around next closest nearest farthest
    furthest on in at by against along leftmost rightmost far opposite upper lower"""
)
CLOTHES = _words(
    """coat jacket shirt t-shirt dress skirt suit trousers pants jeans hat cap helmet scarf tie glove gloves shoe shoes
    boot boots sock socks sweater jumper hoodie vest tunic belt uniform apron glasses sunglasses sleeve collar"""
)
BODY = _words(
    """arm arms hand hands leg legs foot feet head face eye eyes ear ears nose mouth chest shoulder shoulders knee knees
    wrist finger fingers neck back hair beard paw paws tail wing wings horn horns beak hoof hooves cheek hip"""
)
PARTS = CLOTHES | BODY

# Where the part of a description that names the target ends: a place, a companion or an action follows.
PHRASE_STARTS = PLACES - _words("left right middle back front top bottom upper lower far leftmost rightmost") | _words(
    """with without wearing holding carrying looking facing standing sitting lying running walking riding leaning
    seen to from who which that whose while"""
)

# Each set holds labels that are too near to be incompatible: synonyms, ages and sizes of one kind.
NEAR = tuple(
    _words(line)
    for line in (
        "woman girl lady female mother grandmother daughter sister bride",
        "man boy guy gentleman male father grandfather son brother groom",
        "child kid boy girl toddler baby infant teenager youth",
        "car automobile auto sedan hatchback limousine convertible",
        "truck lorry pickup",
        "bike bicycle cycle",
        "bike motorbike motorcycle scooter moped",
        "airplane aeroplane plane aircraft jet airliner",
        "boat ship vessel yacht sailboat ferry",
        "bus coach minibus",
        "train locomotive tram",
        "dog puppy hound",
        "cat kitten",
        "horse pony foal mare stallion",
        "cow calf bull ox cattle",
        "sheep lamb ram ewe",
        "hen chicken rooster chick cock",
        "rabbit bunny hare",
        "pig piglet hog",
        "sandwich sub toast burger hamburger cheeseburger",
        "cake cupcake muffin",
        "donut doughnut",
        "soup broth stew",
        "fries chips",
        "cup mug",
        "plate dish",
    )
)

# A broader label and narrower ones under it.
BROADER = {
    "person": "woman man girl boy lady guy gentleman child kid toddler baby player worker rider cyclist",
    "human": "woman man girl boy lady guy gentleman child kid person",
    "adult": "woman man lady guy gentleman",
    "vehicle": "car truck bus van bicycle bike motorcycle train tram airplane plane boat ship tractor taxi rocket",
    "car": "taxi",
    "animal": "dog cat horse cow sheep bird hen elephant bear zebra giraffe rabbit pig goat crab jaguar",
    "pet": "dog cat rabbit puppy kitten",
    "bird": "hen chicken duck goose eagle owl parrot pigeon sparrow robin gull seagull swan",
    "food": "pizza cake sandwich salad soup apple banana orange donut bread burger fruit vegetable fig",
    "fruit": "apple banana orange lemon lime fig grape pear peach strawberry melon",
    "vegetable": "carrot broccoli tomato potato cucumber pepper onion",
    "drink": "coffee tea juice milk water",
    "dessert": "cake cupcake donut pudding pie",
}
_NARROWER = {broad: _words(narrow) for broad, narrow in BROADER.items()}
THINGS = frozenset().union(*NEAR, _NARROWER, *_NARROWER.values())


def singular(word: str) -> str:
    """The word without a plural ending, by the commonest patterns alone."""
    irregular = {"women": "woman", "men": "man", "people": "person", "children": "child", "feet": "foot"}
    if word in irregular:
        return irregular[word]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def too_near(old: str, new: str) -> str:
    """Why the second label is no incompatible identity for the first; empty if it may be one."""
    old, new = singular(old), singular(new)
    if old == new:
        return "the two are the same label"
    if any(old in group and new in group for group in NEAR):
        return "the two are near in kind"
    if new in _NARROWER.get(old, ()) or old in _NARROWER.get(new, ()):
        return "one is the broader label of the other"
    return ""


def kinds(some: Iterable[str]) -> set[str]:
    """The premise classes that these words may speak of, as far as the lists know them."""
    found: set[str] = set()
    for word in some:
        if word in ATTRIBUTES:
            found.add("attribute")
        if word in PLACES:
            found.add("location")
        if singular(word) in THINGS or word in THINGS:
            found.add("identity")
    return found
