"""Words of look, place, clothes and body, and pronouns: what the rules need that a table of nouns can't tell."""

from collections.abc import Iterable
from functools import lru_cache

from annotate.linting import nouns


def split(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


ARTICLES = split("a an the")
DETERMINERS = ARTICLES | split("this that these those his her its their my your our")
PRONOUNS = split("he him his himself she her hers herself it its itself they them their theirs themselves")
STAND_INS = split("he him she it they them this that these those one")
FEMALE_PRONOUNS = split("she her hers herself")
MALE_PRONOUNS = split("he him his himself")
PERSONAL_PRONOUNS = FEMALE_PRONOUNS | MALE_PRONOUNS
THING_PRONOUNS = split("it its itself")
FEMALE = split("woman women girl girls lady ladies mother grandmother sister daughter bride waitress actress queen nun")
MALE = split(
    "man men boy boys gentleman gentlemen guy guys father grandfather brother son groom waiter actor king monk"
)

# What can be seen of a thing, by the property it is a value of; two values of one property exclude each other.
PROPERTIES = {
    "colour": split(
        """red orange yellow green blue purple violet pink brown black white gray grey silver golden gold beige tan
        cream turquoise teal maroon navy crimson scarlet ivory blond blonde burgundy lavender magenta olive khaki
        colorful colourful multicolored multicoloured transparent ginger amber bronze"""
    ),
    "material": split(
        """wooden wood metal metallic plastic glass leather paper cotton woolen woollen wool steel ceramic stone brick
        denim silk straw wicker rubber concrete marble velvet cardboard knitted porcelain iron copper nylon fabric"""
    ),
    "pattern": split(
        """striped spotted plain checkered checked patterned dotted plaid floral solid polka-dot flowery camouflage
        tabby marbled mottled"""
    ),
    "surface": split("shiny matte glossy smooth rough wrinkled rusty glittering furry fluffy shaggy bald hairy fuzzy"),
    "expression": split(
        """smiling frowning laughing crying serious sleepy angry happy sad calm grinning surprised scared worried
        excited bored cheerful relaxed unhappy stern upset"""
    ),
    "openness": split("open closed shut ajar"),
    "filling": split("empty full half-empty half-full overflowing"),
    "wetness": split("wet dry damp soaked muddy snowy"),
    "cleanness": split("clean dirty dusty muddy spotless stained"),
    "light": split("dark light bright pale dim unlit lit glowing"),
    "size": split("large small big little tiny huge giant miniature enormous medium-sized oversized"),
    "height": split("tall short low high"),
    "length": split("long short cropped"),
    "width": split("thick thin wide narrow slim broad chubby"),
    "form": split("curly straight wavy bent curved pointed floppy upright crooked"),
    "shape": split("round square oval triangular rectangular flat heart-shaped circular star-shaped"),
    "age": split("old young new elderly aged modern vintage antique"),
    "wholeness": split(
        "sliced whole halved broken cracked intact folded unfolded cut peeled unpeeled torn bitten chopped"
    ),
    "cooking": split(
        "raw cooked burnt grilled fried fresh toasted baked boiled steamed roasted frozen melted rotten ripe"
    ),
    "beard": split("bearded clean-shaven mustached bald"),
    "hair": split("long-haired short-haired gray-haired grey-haired blond-haired dark-haired red-haired curly-haired"),
}
COLOURS, MATERIALS = PROPERTIES["colour"], PROPERTIES["material"]
ATTRIBUTES = frozenset().union(*PROPERTIES.values())
# Words of look that are as often the name of a thing.
LOOK_OR_THING = split(
    "orange cream glass gold silver bronze olive ginger lavender brick stone iron copper marble straw"
)

# The same look in other words, and looks so near that a person must see the picture.
SAME_LOOKS = tuple(
    map(
        split,
        (
            "gray grey",
            "gray-haired grey-haired",
            "blond blonde",
            "purple violet",
            "golden gold",
            "wooden wood",
            "metal metallic",
            "woolen woollen wool",
            "large big",
            "little small",
            "huge enormous giant",
            "smiling grinning",
            "closed shut",
            "checkered checked plaid",
            "round circular",
            "shiny glossy",
            "spotted dotted",
            "old elderly aged",
            "vintage antique",
            "fluffy fuzzy furry",
            "colorful colourful multicolored multicoloured",
            "sad unhappy",
            "happy cheerful",
        ),
    )
)
NEAR_LOOKS = tuple(
    map(
        split,
        (
            "silver gray grey",
            "golden gold yellow amber",
            "beige tan cream ivory khaki",
            "white ivory cream",
            "turquoise teal",
            "maroon burgundy crimson scarlet red",
            "navy blue",
            "purple violet lavender magenta",
            "pink magenta",
            "brown tan bronze",
            "orange ginger amber",
            "small tiny miniature little",
            "large huge enormous giant big",
            "wet damp soaked",
            "dirty muddy dusty stained",
            "serious stern",
            "smiling laughing happy cheerful",
            "metal steel iron",
            "paper cardboard",
            "curly wavy",
            "light pale bright",
            "thin slim narrow",
            "wide broad thick",
        ),
    )
)

# Places by the axis they lie on; two on one axis exclude each other, two on different ones may both hold.
AXES = {
    "sideways": split("left right leftmost rightmost left-hand right-hand center centre middle central"),
    "upwards": split(
        "top bottom upper lower above below over under underneath beneath atop center centre middle high low"
    ),
    "depth": split(
        """foreground background front back rear behind closest nearest farthest furthest far near close middle
        distance distant"""
    ),
    "relation": split(
        """on under in inside outside within beside next near behind between above below over underneath beneath
        against front by at across around opposite along atop into onto through off among away far
        indoors outdoors upstairs downstairs"""
    ),
    "region": split("corner edge side center centre middle end border"),
}
PLACES = frozenset().union(*AXES.values())
# Words around a place that say nothing where a more telling one stands beside them.
BLAND = split("in on at to from of the a an very far side its his her their and picture image photo frame scene")
SAME_PLACES = tuple(
    map(
        split,
        (
            "beside next alongside",
            "under underneath beneath below",
            "in inside within",
            "middle center centre central",
            "on atop",
            "closest nearest",
            "farthest furthest",
            "left left-hand",
            "right right-hand",
            "background distance",
        ),
    )
)
NEAR_PLACES = tuple(
    map(
        split,
        (
            "beside next near by close alongside at",
            "above over on atop",
            "foreground front",
            "background back rear behind",
            "left leftmost left-hand",
            "right rightmost right-hand",
            "corner edge side border end",
            "on at in to",
            "near close at by against",
            "top upper above",
            "bottom lower below",
        ),
    )
)

CLOTHES = split(
    """coat jacket shirt t-shirt dress skirt suit trousers pants jeans shorts hat cap helmet scarf tie glove gloves shoe
    shoes boot boots sock socks sweater jumper hoodie vest tunic belt uniform apron glasses sunglasses sleeve collar
    sneakers sandals backpack bag handbag necklace earring earrings watch bracelet ring robe gown shawl costume mask
    goggles headband leash harness saddle bandana"""
)
BODY = split(
    """arm arms hand hands leg legs foot feet head face eye eyes ear ears nose mouth chest shoulder shoulders knee knees
    wrist finger fingers neck back hair beard paw paws tail wing wings horn horns beak hoof hooves cheek hip lap waist
    breast claw claws mane snout trunk tusk tusks fur lip lips forehead chin"""
)

# Where the part of a description that names the target ends: a place, a companion or an action follows.
PHRASE_STARTS = (
    PLACES
    - split("left right middle back front top bottom upper lower far leftmost rightmost left-hand right-hand")
    - split("center centre central corner edge side end border distant foreground background rear close near distance")
    - split("high low")
) | split(
    """near with without wearing holding carrying looking facing standing sitting lying running walking riding leaning
    seen to from who which that whose while"""
)


@lru_cache(maxsize=20_000)
def is_look(word: str) -> bool:
    """Whether a word says how something looks; of "dark-blue" or "long-haired" a part is enough."""
    return word in ATTRIBUTES or ("-" in word and not ATTRIBUTES.isdisjoint(word.split("-")))


@lru_cache(maxsize=20_000)
def is_part(word: str) -> bool:
    """Whether a word names clothing or a part of a body."""
    return word in CLOTHES or word in BODY or nouns.kind(word) in {"clothing", "body"}


@lru_cache(maxsize=20_000)
def is_thing(word: str) -> bool:
    """Whether a word names a thing rather than its look or place."""
    if word in PLACES or word in PRONOUNS or word in DETERMINERS:
        return False
    return word in LOOK_OR_THING or (not is_look(word) and not word.endswith("ing") and nouns.is_noun(word))


def kinds(some: Iterable[str]) -> set[str]:
    """The premise classes that these words may speak of, as far as lists and table know them."""
    found: set[str] = set()
    for word in some:
        if is_look(word):
            found.add("attribute")
        if word in PLACES:
            found.add("location")
        if is_thing(word):
            found.add("identity")
    return found


def properties(some: Iterable[str]) -> set[str]:
    """The properties that words of look are values of."""
    return {name for name, values in PROPERTIES.items() if not values.isdisjoint(some)}


def axes(some: Iterable[str]) -> set[str]:
    """The axes that words of place lie on."""
    return {name for name, values in AXES.items() if not values.isdisjoint(some)}


def telling(some: Iterable[str]) -> set[str]:
    """Without the words that say little of a place; those alone where there are no others."""
    given = set(some)
    return given - BLAND or given


def alike(old: Iterable[str], new: Iterable[str], groups: Iterable[frozenset[str]]) -> bool:
    """Whether all these words are of one group."""
    old, new = set(old), set(new)
    return bool(old and new) and any(old <= group and new <= group for group in groups)
