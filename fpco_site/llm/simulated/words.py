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
    1: ("statue", "robot"),
    2: ("tractor", "carriage"),
    3: ("fox", "owl"),
    4: ("cupcake", "pineapple"),
}
FEMALE = frozenset(_split("woman girl lady mother bride"))
MALE = frozenset(_split("man boy gentleman father groom"))
