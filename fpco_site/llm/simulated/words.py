"""Small word lists with which the offline models guess what kind of thing a word is."""


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


COLOURS = _split(
    """red orange yellow green blue purple pink brown black white gray grey silver golden gold beige tan cream
    turquoise violet maroon navy blond blonde"""
)
CLEAR_COLOURS = _split("red yellow green blue white")
MATERIALS = _split("wooden metal plastic glass leather paper cotton woolen steel ceramic stone denim")
LOOKS = _split(
    """striped spotted plain checkered patterned shiny matte smiling frowning laughing serious sleepy angry happy sad
    open closed empty full wet dry clean dirty dark light bright pale long short curly straight large small big
    tiny tall old new round square sliced whole raw cooked fluffy shaggy furry smooth bald bearded"""
)
ATTRIBUTES = frozenset(COLOURS + MATERIALS + LOOKS)

EXPRESSIONS = frozenset(_split("smiling frowning laughing serious sleepy angry happy sad"))
_BOTH_WAYS = [
    (pair.partition("/")[0], pair.partition("/")[2])
    for pair in _split(
        """smiling/frowning happy/sad laughing/serious open/closed empty/full wet/dry clean/dirty dark/light long/short
        curly/straight large/small old/new round/square sliced/whole raw/cooked shiny/matte striped/spotted
        shaggy/smooth bald/bearded"""
    )
]
# A look and what it can't be taken for; of colours and materials any other one will do.
CONTRARIES = {
    **dict(_BOTH_WAYS),
    **{b: a for a, b in _BOTH_WAYS},
    "sleepy": "laughing",
    "angry": "smiling",
    "plain": "striped",
    "checkered": "spotted",
    "patterned": "striped",
    "bright": "dark",
    "pale": "dark",
    "big": "small",
    "tiny": "large",
    "tall": "short",
    "fluffy": "smooth",
    "furry": "smooth",
}

# Looks of which one excludes the other, where a second change is wanted beside the contrary.
KINDS_OF_LOOK = (
    _split("smiling serious angry laughing sad sleepy frowning happy"),
    _split("striped spotted plain checkered patterned"),
    _split("bald bearded curly"),
    _split("raw cooked sliced whole"),
)

PREPOSITIONS = frozenset(_split("on in at under beneath below above over behind beside near by inside outside between"))
PLACES = PREPOSITIONS | frozenset(
    _split(
        """against along next to left right top bottom center centre middle front back background foreground edge
        corner far closest nearest farthest across around"""
    )
)
DETERMINERS = frozenset(_split("the a an this that these those"))
AUXILIARIES = frozenset(
    _split(
        """is are was were be does do did has have can could will would should seem seems appear appears look looks
        and or of that which who doing"""
    )
)

OPPOSITES = {
    "left": "right",
    "right": "left",
    "top": "bottom",
    "bottom": "top",
    "foreground": "background",
    "background": "foreground",
    "front": "back",
    "back": "front",
    "on": "under",
    "under": "on",
    "inside": "outside",
    "outside": "inside",
    "behind": "beside",
    "above": "below",
    "below": "above",
    "center": "corner",
    "centre": "corner",
    "middle": "corner",
    "closest to": "farthest from",
    "nearest to": "farthest from",
}

# A second place beside the opposite; phrases first, for a word alone would need another preposition.
SECOND_PLACES = {
    "on the left": "in the middle",
    "on the right": "in the middle",
    "on the far left": "in the middle",
    "on the far right": "in the middle",
    "to the left of": "behind",
    "to the right of": "behind",
    "center": "background",
    "centre": "background",
    "middle": "background",
    "foreground": "corner",
    "background": "corner",
    "front": "edge",
    "back": "edge",
    "top": "edge",
    "bottom": "edge",
    "on": "behind",
    "under": "behind",
    "behind": "under",
    "inside": "behind",
    "outside": "behind",
    "above": "beside",
    "below": "beside",
}

INCOMPATIBLE = {
    "woman": "man",
    "man": "woman",
    "girl": "man",
    "boy": "woman",
    "lady": "gentleman",
    "gentleman": "lady",
    "car": "truck",
    "truck": "car",
    "bus": "motorcycle",
    "bicycle": "motorcycle",
    "motorcycle": "bicycle",
    "boat": "truck",
    "ship": "train",
    "airplane": "helicopter",
    "plane": "helicopter",
    "train": "bus",
    "rocket": "lighthouse",
    "dog": "cat",
    "cat": "dog",
    "horse": "cow",
    "cow": "horse",
    "sheep": "goat",
    "bird": "squirrel",
    "elephant": "rhino",
    "bear": "horse",
    "zebra": "deer",
    "giraffe": "camel",
    "rabbit": "duck",
    "pizza": "cake",
    "cake": "pizza",
    "sandwich": "salad",
    "salad": "sandwich",
    "soup": "salad",
    "apple": "banana",
    "banana": "apple",
    "coffee": "soup",
    "tea": "soup",
    "donut": "sandwich",
    "burger": "salad",
}
FALLBACK_IDENTITY = {
    1: ("statue", "robot", "snowman"),
    2: ("tractor", "carriage", "sledge"),
    3: ("fox", "owl", "otter"),
    4: ("cupcake", "pineapple", "pretzel"),
}
FEMALE = frozenset(_split("woman girl lady mother bride"))
MALE = frozenset(_split("man boy gentleman father groom"))
