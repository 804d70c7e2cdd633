"""Cases of the lint: a wrong text with the words that are wrong in it, and its right counterpart.

Taken from the study's rules for drafting (arXiv 2609.03331) and from common sense. Offensive words are in
rot13, as in the code.
"""

from typing import NamedTuple


class Premise(NamedTuple):
    """A description and two changes of it: a wrong one, of which `at` is marked, and a right one."""

    code: str
    severity: str
    premise_class: str
    true: str
    wrong: str
    at: str
    right: str


class Target(NamedTuple):
    """Two descriptions: a wrong one, of which `at` is marked, and a right one."""

    code: str
    severity: str
    wrong: str
    at: str
    right: str


class Asked(NamedTuple):
    """Two questions about a description: a wrong one, of which `at` is marked, and a right one."""

    code: str
    severity: str
    true: str
    wrong: str
    at: str
    right: str


class Rewrite(NamedTuple):
    """A question, and two rewritten ones: a wrong one, of which `at` is marked, and a right one."""

    code: str
    severity: str
    premise_class: str
    true: str
    false: str
    content: str
    wrong: str
    at: str
    right: str


IDENTITY, ATTRIBUTE, LOCATION = "identity", "attribute", "location"
E, W = "error", "warning"

# fmt: off
PREMISES = [
    # One word if possible, else one short local phrase; keep the rest.
    Premise("modified_same", E, ATTRIBUTE, "the red car by the wall", "The red car by the wall",
        "The red car by the wall", "the blue car by the wall"),
    Premise("modified_edges", E, ATTRIBUTE, "the red car by the wall", "the blue car by the wall.", ".",
        "the blue car by the wall"),
    Premise("modified_edges", E, ATTRIBUTE, "the red car by the wall", " the blue car by the wall", " ",
        "the blue car by the wall"),
    Premise("several_changes", E, ATTRIBUTE, "the red car by the wall", "the blue car by the gate", "gate",
        "the blue car by the wall"),
    Premise("several_changes", E, IDENTITY, "the smiling woman in the red coat", "the smiling man in the blue coat",
        "blue", "the smiling man in the red coat"),
    Premise("several_changes", E, LOCATION, "the small dog on the left", "the large dog on the right", "right",
        "the small dog on the right"),
    Premise("several_changes", E, IDENTITY, "the brown dog on the sofa", "the black cat on the old sofa", "old",
        "the brown cat on the sofa"),
    Premise("only_removed", E, ATTRIBUTE, "the small red car", "the red car", "", "the large red car"),
    Premise("change_more_than_one_word", W, ATTRIBUTE, "the red car by the wall", "the dark blue car by the wall",
        "dark blue", "the blue car by the wall"),
    Premise("change_more_than_one_word", W, IDENTITY, "a dog on the grass", "a stuffed goat on the grass",
        "stuffed goat", "an elephant on the grass"),
    Premise("change_long", E, ATTRIBUTE, "the red car by the wall", "the very dark dirty blue car by the wall",
        "very dark dirty blue", "the very dark blue car by the wall"),
    Premise("change_long", E, LOCATION, "the dog by the tree", "the dog on the far left side of the old wall",
        "on the far left side of the old wall", "the dog behind the tree"),
    Premise("change_repeats", W, IDENTITY, "the brown cat beside the dog", "the brown dog beside the dog", "dog",
        "the brown goat beside the dog"),
    Premise("article", W, ATTRIBUTE, "a red car by the wall", "a orange car by the wall", "a orange",
        "an orange car by the wall"),
    Premise("article", W, IDENTITY, "an orange on the plate", "an banana on the plate", "an banana",
        "a banana on the plate"),
    # Do not expand; of a location the study's own premises do.
    Premise("expansion", E, ATTRIBUTE, "the car by the wall", "the blue car by the wall", "blue",
        "the car by the wall"),
    Premise("expansion", E, IDENTITY, "the gray bicycle", "the gray toy bicycle", "toy", "the gray motorcycle"),
    Premise("expansion", W, LOCATION, "the gray road bicycle", "the gray road bicycle on the right", "on the right",
        "the gray road bicycle"),
    Premise("expansion", W, LOCATION, "the brown horse", "the brown horse behind the fence", "behind the fence",
        "the brown horse"),
    # The change is of the fixed class.
    Premise("class_mismatch", E, IDENTITY, "the red car by the wall", "the blue car by the wall", "blue",
        "the red truck by the wall"),
    Premise("class_mismatch", E, IDENTITY, "the wooden boat on the lake", "the plastic boat on the lake", "plastic",
        "the wooden bench on the lake"),
    Premise("class_mismatch", E, IDENTITY, "the man on the left", "the man on the right", "right",
        "the woman on the left"),
    Premise("class_mismatch", E, ATTRIBUTE, "the wooden chair on the left", "the wooden chair on the right", "right",
        "the metal chair on the left"),
    Premise("class_mismatch", E, ATTRIBUTE, "the red dog on the mat", "the red fox on the mat", "fox",
        "the white dog on the mat"),
    Premise("class_mismatch", E, ATTRIBUTE, "the smiling woman with the hat", "the smiling man with the hat", "man",
        "the crying woman with the hat"),
    Premise("class_mismatch", E, LOCATION, "the dog on the left", "the cat on the left", "cat",
        "the dog on the right"),
    Premise("class_mismatch", E, LOCATION, "the kitten on the pink blanket", "the kitten on the green blanket",
        "green", "the kitten under the pink blanket"),
    Premise("class_mismatch", E, LOCATION, "the striped towel on the chair", "the plain towel on the chair", "plain",
        "the striped towel under the chair"),
    Premise("class_mismatch", W, ATTRIBUTE, "the boy beside the red bench", "the boy beside the red lamp", "lamp",
        "the boy in the red coat"),
    # Identity: who or what the target is, by a clearly incompatible label.
    Premise("identity_soft", E, IDENTITY, "the woman in the red coat", "the girl in the red coat", "girl",
        "the man in the red coat"),
    Premise("identity_soft", E, IDENTITY, "the man with the bag", "the boy with the bag", "boy",
        "the woman with the bag"),
    Premise("identity_soft", E, IDENTITY, "the person with the bag", "the woman with the bag", "woman",
        "the statue with the bag"),
    Premise("identity_soft", E, IDENTITY, "the lady with the bag", "the woman with the bag", "woman",
        "the man with the bag"),
    Premise("identity_soft", E, IDENTITY, "the adult with the bag", "the man with the bag", "man",
        "the robot with the bag"),
    Premise("identity_soft", E, IDENTITY, "the child with the ball", "the boy with the ball", "boy",
        "the dog with the ball"),
    Premise("identity_soft", E, IDENTITY, "the toddler with the ball", "the baby with the ball", "baby",
        "the dog with the ball"),
    Premise("identity_soft", E, IDENTITY, "the brown dog on the grass", "the brown puppy on the grass", "puppy",
        "the brown cat on the grass"),
    Premise("identity_soft", E, IDENTITY, "the brown dog on the grass", "the brown poodle on the grass", "poodle",
        "the brown goat on the grass"),
    Premise("identity_soft", E, IDENTITY, "the brown dog on the grass", "the brown animal on the grass", "animal",
        "the brown cow on the grass"),
    Premise("identity_soft", E, IDENTITY, "the two-door car by the wall", "the two-door automobile by the wall",
        "automobile", "the two-door truck by the wall"),
    Premise("identity_soft", E, IDENTITY, "the red bus at the stop", "the red vehicle at the stop", "vehicle",
        "the red truck at the stop"),
    Premise("identity_soft", E, IDENTITY, "the red lorry at the stop", "the red truck at the stop", "truck",
        "the red bus at the stop"),
    Premise("identity_soft", E, IDENTITY, "the yellow taxi at the stop", "the yellow car at the stop", "car",
        "the yellow tram at the stop"),
    Premise("identity_soft", E, IDENTITY, "the white plane in the sky", "the white aircraft in the sky", "aircraft",
        "the white helicopter in the sky"),
    Premise("identity_soft", E, IDENTITY, "the old sailboat at the pier", "the old boat at the pier", "boat",
        "the old truck at the pier"),
    Premise("identity_soft", E, IDENTITY, "the brown hen on the path", "the brown bird on the path", "bird",
        "the brown rabbit on the path"),
    Premise("identity_soft", E, IDENTITY, "the gray foal in the field", "the gray horse in the field", "horse",
        "the gray cow in the field"),
    Premise("identity_soft", E, IDENTITY, "the sliced apple on the plate", "the sliced fruit on the plate", "fruit",
        "the sliced orange on the plate"),
    Premise("identity_soft", E, IDENTITY, "the large pizza on the table", "the large meal on the table", "meal",
        "the large cake on the table"),
    Premise("identity_soft", E, IDENTITY, "the glazed donut on the plate", "the glazed doughnut on the plate",
        "doughnut", "the glazed cake on the plate"),
    Premise("identity_soft", E, IDENTITY, "the small burger on the plate", "the small sandwich on the plate",
        "sandwich", "the small salad on the plate"),
    Premise("identity_soft", E, IDENTITY, "the cold fries on the plate", "the cold chips on the plate", "chips",
        "the cold carrots on the plate"),
    Premise("identity_soft", E, IDENTITY, "the young geese by the pond", "the young goose by the pond", "goose",
        "the young sheep by the pond"),
    Premise("identity_near", W, IDENTITY, "the small boat at the pier", "the small ship at the pier", "ship",
        "the small truck at the pier"),
    Premise("identity_near", W, IDENTITY, "the brown hen on the path", "the brown rooster on the path", "rooster",
        "the brown rabbit on the path"),
    Premise("identity_near", W, IDENTITY, "the white car at the stop", "the white van at the stop", "van",
        "the white bus at the stop"),
    Premise("identity_near", W, IDENTITY, "the woman with the ball", "the child with the ball", "child",
        "the man with the ball"),
    Premise("identity_compatible", W, IDENTITY, "the woman on the bicycle", "the cyclist on the bicycle", "cyclist",
        "the man on the bicycle"),
    Premise("identity_compatible", W, IDENTITY, "the man by the stove", "the chef by the stove", "chef",
        "the woman by the stove"),
    Premise("identity_not_the_target", W, IDENTITY, "the man with the dog", "the man with the cat", "cat",
        "the woman with the dog"),
    Premise("identity_same_head", W, IDENTITY, "the gray road bicycle by the wall",
        "the gray toy bicycle by the wall", "toy", "the gray road motorcycle by the wall"),
    # Attribute: one visible property.
    Premise("attribute_soft", E, ATTRIBUTE, "the gray cat on the wall", "the grey cat on the wall", "grey",
        "the black cat on the wall"),
    Premise("attribute_soft", E, ATTRIBUTE, "the large dog on the wall", "the big dog on the wall", "big",
        "the small dog on the wall"),
    Premise("attribute_soft", E, ATTRIBUTE, "the closed umbrella by the door", "the shut umbrella by the door",
        "shut", "the open umbrella by the door"),
    Premise("attribute_near", W, ATTRIBUTE, "the silver car by the wall", "the gray car by the wall", "gray",
        "the red car by the wall"),
    Premise("attribute_near", W, ATTRIBUTE, "the beige sofa by the door", "the cream sofa by the door", "cream",
        "the black sofa by the door"),
    Premise("attribute_near", W, ATTRIBUTE, "the small cup on the table", "the tiny cup on the table", "tiny",
        "the large cup on the table"),
    Premise("attribute_compatible", W, ATTRIBUTE, "the red chair by the door", "the wooden chair by the door",
        "wooden", "the blue chair by the door"),
    Premise("attribute_compatible", W, ATTRIBUTE, "the wet dog on the grass", "the brown dog on the grass", "brown",
        "the dry dog on the grass"),
    Premise("attribute_of_another", W, ATTRIBUTE, "the kitten on the pink blanket", "the kitten on the green blanket",
        "green", "the kitten on the pink blanket"),
    Premise("attribute_of_another", W, ATTRIBUTE, "the boy next to the red car", "the boy next to the blue car",
        "blue", "the boy next to the red car"),
    # Location: where the whole target is.
    Premise("location_soft", E, LOCATION, "the boy beside the tree", "the boy next to the tree", "next to",
        "the boy behind the tree"),
    Premise("location_soft", E, LOCATION, "the cat under the table", "the cat beneath the table", "beneath",
        "the cat on the table"),
    Premise("location_soft", E, LOCATION, "the cup in the center", "the cup in the middle", "middle",
        "the cup in the corner"),
    Premise("location_near", W, LOCATION, "the boy beside the tree", "the boy near the tree", "near",
        "the boy behind the tree"),
    Premise("location_near", W, LOCATION, "the lamp above the table", "the lamp over the table", "over",
        "the lamp under the table"),
    Premise("location_compatible", W, LOCATION, "the man to the left of the tripod", "the man in front of the tripod",
        "in front", "the man to the right of the tripod"),
    Premise("location_compatible", W, LOCATION, "the dog on the left", "the dog in the foreground",
        "in the foreground", "the dog on the right"),
    Premise("location_without_place", W, LOCATION, "the parked car", "the moving car", "moving",
        "the parked car on the left"),
    Premise("location_of_a_part", E, LOCATION, "the man with a bag on his left arm",
        "the man with a bag on his right arm", "right", "the man with a bag on his left arm"),
    Premise("location_of_a_part", E, LOCATION, "the boy with the cap on his head",
        "the boy with the cap under his head", "under", "the boy with the cap on his head behind the bench"),
    Premise("location_of_a_part", E, LOCATION, "the woman in the left boot", "the woman in the right boot", "right",
        "the woman in the left boot by the door"),
    Premise("location_may_attach", W, LOCATION, "the woman in the blue coat",
        "the woman in the blue coat on the left", "on the left", "the woman on the left in the blue coat"),
    Premise("location_may_attach", W, LOCATION, "the dog with the red collar",
        "the dog with the red collar under the table", "under the table",
        "the dog under the table with the red collar"),
    Premise("location_of_a_part", E, LOCATION, "the woman with a bag on her shoulder",
        "the woman with a bag on her back", "back", "the woman with a bag on her shoulder near the door"),
    Premise("location_of_a_part", E, LOCATION, "the dog with its paw over the ledge",
        "the dog with its paw under the ledge", "under", "the dog behind the ledge"),
    Premise("location_may_attach", W, LOCATION, "the man with the hat on the left",
        "the man with the hat on the right", "right", "the man on the right with the hat"),
    Premise("class_mismatch", W, ATTRIBUTE, "the red car by the tree", "the red car by the lake", "lake",
        "the blue car by the tree"),
    # Pronouns that an identity change makes wrong.
    Premise("modified_pronoun", W, IDENTITY, "the woman in her coat", "the man in her coat", "her",
        "the man in his coat"),
    Premise("modified_pronoun", W, IDENTITY, "the boy with his kite", "the girl with his kite", "his",
        "the girl with her kite"),
    Premise("modified_pronoun", W, IDENTITY, "the man with his dog", "the statue with his dog", "his",
        "the statue with its dog"),
    Premise("modified_pronoun", W, IDENTITY, "the dog with its ball", "the man with its ball", "its",
        "the man with his ball"),
    # No names, identifiers, offensive words or guesses in the premise either.
    Premise("brand", W, IDENTITY, "the red bicycle by the wall", "the red Ferrari by the wall", "Ferrari",
        "the red car by the wall"),
    Premise("name_possible", W, IDENTITY, "the nurse by the bed", "Johnny by the bed", "Johnny",
        "the robot by the bed"),
    Premise("offensive", E, IDENTITY, "the old man on the bench", "the old onfgneq on the bench", "onfgneq",
        "the old woman on the bench"),
]

TARGETS = [
    Target("description_edges", E, "“the red car by the wall”", "“", "the red car by the “Stop” sign"),
    Target("description_edges", E, "- the red car by the wall", "-", "the red car - a taxi - by the wall"),
    Target("description_edges", E, "the red car by the wall\u200b", "\u200b", "the red car by the wall"),
    Target("two_targets", W, "the group of children by the wall", "group of children", "the group portrait"),
    Target("two_targets", W, "the couple on the bench", "couple", "the couple's dog on the bench"),
    Target("two_targets", E, "the 2 men on the bench", "2 men", "the man on bench 2"),
    Target("name_possible", W, "John by the wall", "John", "Robin by the wall"),
    Target("description_empty", E, "", None, "the red car by the wall"),
    Target("description_is_pronoun", E, "this one", "this one", "this red car"),
    Target("description_is_pronoun", E, "it", "it", "the old barn by the lake"),
    Target("description_edges", E, "the red car by the wall.", ".", "the red car by the wall"),
    Target("description_edges", E, "  the red car by the wall", "  ", "the red car by the wall"),
    Target("description_bare", W, "the woman", "the woman", "the woman by the door"),
    Target("description_long", W, "the very old and rather dirty small red car that stands by the wall of the house",
        "the very old and rather dirty small red car that stands by the wall of the house",
        "the small red car by the wall of the house"),
    Target("two_targets", E, "the dog and the cat on the sofa", "dog and the cat",
        "the black and white dog on the sofa"),
    Target("two_targets", E, "the small man and woman by the door", "man and woman",
        "the man by the door and the wall"),
    Target("two_targets", E, "the two dogs on the sofa", "two dogs", "the two-colored dog on the sofa"),
    Target("two_targets", W, "the warm soup and bread on the tray", "soup and bread",
        "the warm fish and chips on the tray"),
    Target("plural_target", W, "the brown horses on the left", "horses", "the brown horse on the left"),
    Target("name", E, "the statue of Abraham Lincoln", "Abraham Lincoln", "the statue of the seated man"),
    Target("name", E, "the man called Peter", "Peter", "the man called over by the waiter"),
    Target("name_possible", W, "the old boat in Venice", "Venice", "the old boat in the canal"),
    Target("brand", W, "the red Toyota by the wall", "Toyota", "the red car by the wall"),
    Target("brand", W, "the can of coca-cola on the table", "coca-cola", "the can of soda on the table"),
    Target("identifier", E, "the car with the plate AB 12 CDE", "AB 12 CDE", "the car with the yellow plate"),
    Target("identifier", E, "the van with the number 555-010-4477", "555-010-4477", "the van with the number 4"),
    Target("identifier", E, "the house at 12 Main Street", "12 Main Street", "the house at the main street"),
    Target("identifier", E, "the poster with info@example.org", "info@example.org",
        "the poster with the red letters"),
    Target("identifier", E, "the sign with www.example.org", "www.example.org", "the sign with the white letters"),
    Target("identifier", E, "the sign with @streetfood", "@streetfood", "the sign with the fork"),
    Target("identifier_possible", W, "the boat numbered 48213 at the pier", "48213",
        "the boat numbered 48 at the pier"),
    Target("offensive", E, "the sitting ovgpu by the door", "ovgpu", "the sitting dog by the door"),
    Target("sensitive_attribute", E, "the Asian woman by the door", "Asian", "the Asian noodles in the bowl"),
    Target("sensitive_attribute", E, "the black man by the door", "black", "the man in the black coat"),
    Target("sensitive_attribute", E, "the white woman by the door", "white", "the woman in the white dress"),
    Target("sensitive_attribute", E, "the muslim woman by the door", "muslim", "the woman in the white headscarf"),
    Target("sensitive_attribute", E, "the blind old man by the door", "blind", "the old man with the white stick"),
    Target("sensitive_attribute", E, "the gay man by the door", "gay", "the gray-haired man by the door"),
    Target("sensitive_attribute", E, "the poor man by the door", "poor", "the man in the torn coat"),
    Target("sensitive_attribute", E, "the 30-year-old man by the door", "30-year-old", "the old man by the door"),
    Target("sensitive_attribute", E, "the woman in her forties by the door", "in her forties",
        "the woman in her coat"),
    Target("judging_word", W, "the ugly man by the door", "ugly", "the bearded man by the door"),
    Target("judging_word", W, "the pretty girl by the door", "pretty", "the smiling girl by the door"),
]

CAR = "the red car by the wall"
ASKED = [
    Asked("untidy_space", W, CAR, f"Is {CAR} parked ?", " ", f"Is {CAR} parked?"),
    Asked("untidy_space", W, CAR, f"Is {CAR} par\u202eked?", "\u202e", f"Is {CAR} parked?"),
    Asked("sensitive_question", W, "the man by the wall", "What country does the man by the wall come from?",
        "What country", "What sort of country road is the man by the wall on?"),
    # The description in every question word for word, exactly once.
    Asked("content_empty", E, CAR, "   ", None, f"Is {CAR} parked?"),
    Asked("description_missing", E, CAR, "What is the weather like?", "What is the weather like?", f"Is {CAR} wet?"),
    Asked("description_twice", E, CAR, f"Is {CAR} as new as {CAR}?", CAR, f"Is {CAR} as new as the other car?"),
    Asked("description_altered", E, CAR, "Is the red car parked?", "the red car", f"Is {CAR} parked?"),
    Asked("description_altered", E, CAR, "Is the red car near the wall parked?", "the red car", f"Is {CAR} parked?"),
    Asked("description_altered", E, CAR, "Is the Red Car by the wall parked?", "the Red Car by the wall",
        "The red car by the wall is parked, isn't it?"),
    Asked("description_altered", E, "the man with the bag", "Is the man's bag full?", "bag",
        "Is the man with the bag alone?"),
    Asked("description_pronoun", E, CAR, "Is it parked?", "it", f"Is it true that {CAR} is parked?"),
    Asked("description_pronoun", E, "the woman by the door", "What is she doing?", "she",
        "What is the woman by the door doing with her hands?"),
    Asked("premise_in_content", E, CAR, "Is the red car by the wall like the blue car by the wall?",
        "the blue car by the wall", "Is the red car by the wall like the blue car?"),
    # Natural questions, each its own.
    Asked("question_duplicate", E, CAR, f"Which way does {CAR} face ?", f"Which way does {CAR} face ?",
        f"Which way does {CAR} lean?"),
    Asked("question_similar", W, CAR, f"Which way is {CAR} facing?", f"Which way is {CAR} facing?",
        f"Which part of {CAR} is hidden?"),
    Asked("not_a_question", W, CAR, f"Describe {CAR}.", ".", f"Can you describe {CAR}?"),
    Asked("two_questions", W, CAR, f"Is {CAR} new, and what is behind it?", ", and what", f"Is {CAR} new and clean?"),
    Asked("two_questions", W, CAR, f"Is {CAR} new? Is anyone inside?", "? Is anyone inside?",
        f"Is anyone inside {CAR}?"),
    Asked("untidy_space", W, CAR, f"Is  {CAR} parked?", "  ", f"Is {CAR} parked?"),
    Asked("untidy_space", W, CAR, f"Is {CAR} parked?\n", "\n", f"Is {CAR} parked?"),
    # The answer must not be in the question.
    Asked("answer_given", W, CAR, f"What colour is {CAR}?", CAR, f"What colour are the wheels of {CAR}?"),
    Asked("answer_given", W, CAR, f"What is the color of {CAR}?", CAR, f"What is the shape of {CAR}?"),
    Asked("answer_given", W, "the dog on the sofa", "Where is the dog on the sofa?", "the dog on the sofa",
        "Where is the dog on the sofa looking?"),
    Asked("answer_given", W, "the boat on the left", "On which side of the picture is the boat on the left?",
        "the boat on the left", "On which side of the boat on the left is the oar?"),
    Asked("answer_given", W, "the wooden boat by the pier", "What is the wooden boat by the pier made of?",
        "the wooden boat by the pier", "What is the wooden boat by the pier used for?"),
    Asked("answer_given", W, "the brown dog by the pier", "What kind of animal is the brown dog by the pier?",
        "the brown dog by the pier", "What kind of collar is the brown dog by the pier wearing?"),
    Asked("answer_given", W, "the woman in the red coat", "Is the woman in the red coat wearing red?", "red",
        "Is the woman in the red coat wearing gloves?"),
    Asked("answer_given", W, "the woman in the red coat", "What is the woman in the red coat wearing?",
        "the woman in the red coat", "What is the woman in the red coat holding?"),
    Asked("answer_given", W, "the smiling boy by the door", "Is the smiling boy by the door smiling or frowning?",
        "smiling", "Is the smiling boy by the door sitting or standing?"),
    Asked("answer_given", W, "the man holding a cup", "What is the man holding a cup holding?",
        "the man holding a cup", "What is the man holding a cup wearing?"),
    Asked("answer_given", W, "the hen looking to the right", "Is the hen looking to the right facing left or right?",
        "right", "Is the hen looking to the right alone?"),
    # No names, identifiers, offensive words or guesses.
    Asked("name", E, CAR, f"Is {CAR} near the Eiffel Tower?", "Eiffel Tower", f"Is {CAR} near the iron tower?"),
    Asked("name", E, CAR, f"Does {CAR} belong to Mr. Smith?", "Mr. Smith", f"Does {CAR} belong to someone nearby?"),
    Asked("name_possible", W, CAR, f"Is {CAR} parked in Berlin?", "Berlin", f"Is {CAR} parked in a city?"),
    Asked("brand", W, CAR, f"Is {CAR} a BMW?", "BMW", f"Is {CAR} an SUV?"),
    Asked("identifier", E, CAR, f"Does {CAR} have the plate B-AB 1234?", "B-AB 1234",
        f"Does {CAR} have a number plate?"),
    Asked("offensive", E, CAR, f"Is {CAR} fuvg?", "fuvg", f"Is {CAR} shiny?"),
    Asked("sensitive_question", W, "the man by the door", "How old is the man by the door?", "How old",
        "How tall is the man by the door?"),
    Asked("sensitive_question", W, "the man by the door", "What nationality does the man by the door have?",
        "nationality", "What clothing does the man by the door have?"),
    Asked("sensitive_attribute", W, "the man by the door", "Does the man by the door look sick?", "sick",
        "Does the man by the door look tired?"),
]

PILOT = ("the woman by the plane", "the man by the plane")
REWRITES = [
    Rewrite("rewrite_missing", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?", "", None,
        "Is the blue car by the wall new?"),
    Rewrite("rewrite_keeps_description", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        f"Is {CAR} new?", CAR, "Is the blue car by the wall new?"),
    Rewrite("rewrite_altered", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        "Is the blue car new?", "the blue car", "Is the blue car by the wall new?"),
    Rewrite("rewrite_twice", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        "Is the blue car by the wall as new as the blue car by the wall?", "the blue car by the wall",
        "Is the blue car by the wall new?"),
    Rewrite("rewrite_differs", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        "Is the blue car by the wall old?", "old", "Is the blue car by the wall new?"),
    Rewrite("rewrite_differs", E, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        "Is the blue car by the wall very new?", "very", "Is the blue car by the wall new?"),
    Rewrite("rewrite_differs", E, IDENTITY, *PILOT, f"Does {PILOT[0]} raise her arm?",
        f"Does {PILOT[1]} raise the arm?", "the", f"Does {PILOT[1]} raise his arm?"),
    Rewrite("rewrite_pronoun_left", W, IDENTITY, *PILOT, f"Does {PILOT[0]} raise her arm?",
        f"Does {PILOT[1]} raise her arm?", "her", f"Does {PILOT[1]} raise his arm?"),
    Rewrite("rewrite_pronoun_left", W, IDENTITY, "the dog by the tree", "the man by the tree",
        "Does the dog by the tree turn its head?", "Does the man by the tree turn its head?", "its",
        "Does the man by the tree turn his head?"),
    Rewrite("rewrite_pronoun_left", W, IDENTITY, "the man by the tree", "the statue by the tree",
        "Is the man by the tree holding his hat?", "Is the statue by the tree holding his hat?", "his",
        "Is the statue by the tree holding its hat?"),
    Rewrite("rewrite_pronouns", W, ATTRIBUTE, "the woman in the red coat", "the woman in the blue coat",
        "Is the woman in the red coat raising her arm?", "Is the woman in the blue coat raising his arm?", "his",
        "Is the woman in the blue coat raising her arm?"),
    Rewrite("rewrite_pronouns", W, IDENTITY, "the dog by the tree", "the cat by the tree",
        "Does the dog by the tree turn its head?", "Does the cat by the tree turn her head?", "her",
        "Does the cat by the tree turn its head?"),
    Rewrite("not_a_question", W, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} new?",
        "Is the blue car by the wall new", "w", "Is the blue car by the wall new?"),
    Rewrite("name_possible", W, ATTRIBUTE, CAR, "the blue car by the wall", f"Is {CAR} in a city?",
        "Is the blue car by the wall in Rome?", "Rome", "Is the blue car by the wall in a city?"),
]
# fmt: on
