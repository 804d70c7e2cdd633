"""Items as the study wants them, one or more for each of the 36 cells: the lint must let them pass."""

from typing import NamedTuple

from annotate.drafting import replace_description
from annotate.linting import PlainItem, PlainTurn

SINGLE, SEPARATED, OVERLAPPING = "single_clean", "multi_separated", "multi_overlapping"
PERSON, VEHICLE, ANIMAL, FOOD = "person", "vehicle", "animal", "food"
IDENTITY, ATTRIBUTE, LOCATION = "identity", "attribute", "location"


class Good(NamedTuple):
    """A cell, the two descriptions, and the possessive pronouns of what they name."""

    complexity: str
    category: str
    premise_class: str
    true: str
    false: str
    owner: str = "its"
    false_owner: str = ""


# Ten questions for each complexity and category; {d} is the description, {its} the pronoun of what it names.
QUESTIONS = {
    (SINGLE, PERSON): (
        "What is {d} doing at this moment?",
        "Which way is {d} looking?",
        "What does {d} have on {its} feet?",
        "How is {d} holding {its} arms?",
        "Does {d} seem to notice the camera?",
        "What kind of ground is under {d}?",
        "Is there anything behind {d} that hints at the season?",
        "What mood does the face of {d} suggest?",
        "How much of {d} fits into the frame?",
        "What could have made {d} stop here?",
    ),
    (SEPARATED, PERSON): (
        "How far away from the others is {d}?",
        "Is {d} talking to anyone nearby?",
        "What is {d} carrying, if anything?",
        "What sort of clothes is {d} dressed in?",
        "Who stands closest to {d}?",
        "Where are the eyes of {d} directed?",
        "Does {d} have {its} hands free?",
        "What is the light like around {d}?",
        "Which of the other people does {d} resemble most?",
        "What role might {d} play in this scene?",
    ),
    (OVERLAPPING, PERSON): (
        "Which part of {d} is hidden by someone else?",
        "What is happening right in front of {d}?",
        "Is {d} taller than the people around?",
        "What does {d} wear on {its} head?",
        "Is {d} leaning on anything?",
        "Can both hands of {d} be seen?",
        "What expression does {d} have?",
        "How close is {d} to the viewer?",
        "What is {d} paying attention to?",
        "Does {d} appear to belong to a team?",
    ),
    (SINGLE, VEHICLE): (
        "Is {d} moving or standing still?",
        "What kind of surface is under {d}?",
        "How many wheels of {d} can you count?",
        "Is anyone inside or on {d}?",
        "What could {d} be used for?",
        "Which side of {d} faces the viewer?",
        "In what condition is {d}?",
        "What does the background of {d} look like?",
        "Are any lights of {d} switched on?",
        "What time of day does it seem to be around {d}?",
    ),
    (SEPARATED, VEHICLE): (
        "What else is parked close to {d}?",
        "How does {d} compare in size with the others?",
        "Which direction is {d} heading?",
        "Is the driver of {d} visible?",
        "What is written on {d}, if anything?",
        "Are there any people walking past {d}?",
        "Does {d} look freshly washed?",
        "What is the road under {d} like?",
        "Is {d} blocking the way for anybody?",
        "What might happen next to {d}?",
    ),
    (OVERLAPPING, VEHICLE): (
        "What is partly hiding {d}?",
        "How much of {d} can be seen?",
        "Is {d} touching anything else?",
        "Which part of {d} is in the shade?",
        "Does {d} carry any load?",
        "What shape are the windows of {d}?",
        "Is {d} in focus?",
        "Who could be the owner of {d}?",
        "What lies between {d} and the camera?",
        "Does {d} look ready to leave?",
    ),
    (SINGLE, ANIMAL): (
        "What is {d} doing?",
        "Is the mouth of {d} open or shut?",
        "What is {d} standing, sitting or lying on?",
        "How does the coat or skin of {d} look?",
        "Which way is the head of {d} turned?",
        "Are all legs of {d} visible?",
        "Does {d} seem calm or nervous?",
        "What could have caught the attention of {d}?",
        "What can be seen in the background of {d}?",
        "Is {d} wearing a collar?",
    ),
    (SEPARATED, ANIMAL): (
        "How far is {d} from the nearest other animal?",
        "Is {d} eating anything?",
        "Are the ears of {d} raised?",
        "What does {d} seem to be watching?",
        "Which of the animals is larger than {d}?",
        "Is {d} in the sun or in the shade?",
        "What kind of ground is {d} on?",
        "Does {d} have any markings on {its} face?",
        "What is the tail of {d} doing?",
        "Would you say that {d} is alone?",
    ),
    (OVERLAPPING, ANIMAL): (
        "Which part of {d} is covered by another animal?",
        "What is right in front of {d}?",
        "Is {d} touching one of the others?",
        "How many legs of {d} can be counted?",
        "Does {d} look at the viewer?",
        "Is {d} resting or about to move?",
        "What is growing near {d}?",
        "Are the eyes of {d} open?",
        "How big is {d} compared with the others?",
        "What does the fur or skin of {d} look like?",
    ),
    (SINGLE, FOOD): (
        "What is {d} served on?",
        "Does {d} look freshly made?",
        "Has anyone taken a bite of {d}?",
        "What is the surface of {d} like?",
        "How large is {d} compared with the dish?",
        "From what angle is {d} photographed?",
        "Is any steam rising from {d}?",
        "What would go well with {d}?",
        "Is there any cutlery next to {d}?",
        "Does {d} cast a shadow?",
    ),
    (SEPARATED, FOOD): (
        "What else is on the table near {d}?",
        "How many people could share {d}?",
        "Is {d} closer to the camera than the other dishes?",
        "What kind of container holds {d}?",
        "Does {d} seem to be hot or cold?",
        "Is {d} part of a breakfast?",
        "What colour stands out around {d}?",
        "Which ingredient of {d} can be recognised?",
        "Is {d} neatly arranged?",
        "What is lying directly beside {d}?",
    ),
    (OVERLAPPING, FOOD): (
        "What lies on top of {d}?",
        "Which part of {d} is covered?",
        "What does {d} rest against?",
        "Can the whole outline of {d} be seen?",
        "Does {d} look sweet or savoury?",
        "Is {d} the largest piece in the heap?",
        "How thick does {d} seem?",
        "What would {d} feel like to the touch?",
        "What separates {d} from the rest?",
        "Is the light falling on {d} from one side?",
    ),
}

GOOD = (
    Good(SINGLE, PERSON, IDENTITY, "the woman in the yellow raincoat", "the man in the yellow raincoat", "her", "his"),
    Good(SINGLE, PERSON, IDENTITY, "the boy on the red sled", "the girl on the red sled", "his", "her"),
    Good(SINGLE, PERSON, ATTRIBUTE, "the smiling man with the beard", "the crying man with the beard", "his"),
    Good(SINGLE, PERSON, ATTRIBUTE, "the surfer in the black wetsuit", "the surfer in the orange wetsuit", "their"),
    Good(SINGLE, PERSON, LOCATION, "the girl in front of the fountain", "the girl behind the fountain", "her"),
    Good(SEPARATED, PERSON, IDENTITY, "the chef near the counter", "the firefighter near the counter", "their"),
    Good(
        SEPARATED,
        PERSON,
        ATTRIBUTE,
        "the woman with the striped umbrella",
        "the woman with the spotted umbrella",
        "her",
    ),
    Good(
        SEPARATED,
        PERSON,
        LOCATION,
        "the skater on the left of the ramp",
        "the skater on the right of the ramp",
        "their",
    ),
    Good(OVERLAPPING, PERSON, IDENTITY, "the man holding a blue flag", "the woman holding a blue flag", "his", "her"),
    Good(OVERLAPPING, PERSON, ATTRIBUTE, "the player in the white jersey", "the player in the green jersey", "their"),
    Good(
        OVERLAPPING,
        PERSON,
        LOCATION,
        "the child at the front of the crowd",
        "the child at the back of the crowd",
        "their",
    ),
    Good(SINGLE, VEHICLE, IDENTITY, "the red bus at the curb", "the red truck at the curb"),
    Good(SINGLE, VEHICLE, IDENTITY, "the old motorcycle with the sidecar", "the old bicycle with the sidecar"),
    Good(SINGLE, VEHICLE, ATTRIBUTE, "the white sailboat on the lake", "the green sailboat on the lake"),
    Good(SINGLE, VEHICLE, LOCATION, "the tractor beside the barn", "the tractor inside the barn"),
    Good(SEPARATED, VEHICLE, IDENTITY, "the yellow car near the crossing", "the yellow bus near the crossing"),
    Good(SEPARATED, VEHICLE, ATTRIBUTE, "the rusty bicycle by the gate", "the shiny bicycle by the gate"),
    Good(
        SEPARATED,
        VEHICLE,
        LOCATION,
        "the airplane at the top of the picture",
        "the airplane at the bottom of the picture",
    ),
    Good(OVERLAPPING, VEHICLE, IDENTITY, "the blue train under the bridge", "the blue boat under the bridge"),
    Good(OVERLAPPING, VEHICLE, ATTRIBUTE, "the scooter with the black seat", "the scooter with the brown seat"),
    Good(OVERLAPPING, VEHICLE, LOCATION, "the parked van in the foreground", "the parked van in the background"),
    Good(SINGLE, ANIMAL, IDENTITY, "the brown dog on the beach", "the brown cat on the beach"),
    Good(SINGLE, ANIMAL, IDENTITY, "an eagle on a bare branch", "a parrot on a bare branch"),
    Good(SINGLE, ANIMAL, ATTRIBUTE, "the black horse in the meadow", "the white horse in the meadow"),
    Good(SINGLE, ANIMAL, LOCATION, "the gray cat on the wooden chair", "the gray cat under the wooden chair"),
    Good(SEPARATED, ANIMAL, IDENTITY, "the elephant near the water hole", "the zebra near the water hole"),
    Good(SEPARATED, ANIMAL, ATTRIBUTE, "the sheep with the long horns", "the sheep with the short horns"),
    Good(SEPARATED, ANIMAL, LOCATION, "the duck to the left of the reeds", "the duck to the right of the reeds"),
    Good(OVERLAPPING, ANIMAL, IDENTITY, "the spotted cow behind the fence", "the spotted goat behind the fence"),
    Good(OVERLAPPING, ANIMAL, ATTRIBUTE, "the wet dog among the children", "the dry dog among the children"),
    Good(OVERLAPPING, ANIMAL, LOCATION, "the giraffe nearest to the tree", "the giraffe farthest from the tree"),
    Good(SINGLE, FOOD, IDENTITY, "the slice of pizza on the plate", "the slice of cake on the plate"),
    Good(SINGLE, FOOD, IDENTITY, "the glass of juice with a straw", "the glass of milk with a straw"),
    Good(SINGLE, FOOD, ATTRIBUTE, "the round loaf on the board", "the square loaf on the board"),
    Good(SINGLE, FOOD, LOCATION, "the banana inside the paper bag", "the banana outside the paper bag"),
    Good(SEPARATED, FOOD, IDENTITY, "the bowl of soup near the candle", "the bowl of salad near the candle"),
    Good(SEPARATED, FOOD, ATTRIBUTE, "the green apple next to the jug", "the red apple next to the jug"),
    Good(SEPARATED, FOOD, LOCATION, "the sandwich in the left basket", "the sandwich in the right basket"),
    Good(OVERLAPPING, FOOD, IDENTITY, "the carrot on top of the pile", "the cucumber on top of the pile"),
    Good(OVERLAPPING, FOOD, ATTRIBUTE, "the grilled fish with the lemon", "the raw fish with the lemon"),
    Good(OVERLAPPING, FOOD, LOCATION, "the orange at the top of the heap", "the orange at the bottom of the heap"),
    Good(OVERLAPPING, FOOD, ATTRIBUTE, "the whole tomato on the salad", "the sliced tomato on the salad"),
    Good(SEPARATED, ANIMAL, IDENTITY, "the crane by the river", "the fox by the river"),
    Good(OVERLAPPING, FOOD, IDENTITY, "the hot dog under the napkin", "the pancake under the napkin"),
)


def made(good: Good) -> PlainItem:
    """The item with its ten questions; pronouns follow an identity."""
    turns = []
    for number, template in enumerate(QUESTIONS[good.complexity, good.category], start=1):
        content = template.format(d=good.true, its=good.owner)
        given = template.format(d=good.true, its=good.false_owner or good.owner)
        turns.append(
            PlainTurn(number, content, replace_description(given, good.true, good.false) if number > 3 else "")
        )
    return PlainItem(good.premise_class, good.true, good.false, tuple(turns))
