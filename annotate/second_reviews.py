"""Which items two people review independently, and what their two verdicts come to. Pure."""

from hashlib import sha256

APPROVED, SENT_BACK, REJECTED = "approved", "sent_back", "rejected"


def is_chosen(key: str, *, seed: int, share: float) -> bool:
    """Whether the item of that key is reviewed twice.

    The first eight bytes of sha256(seed, key), as a number in [0, 1), are below `share`: nobody chooses,
    the same seed always chooses the same items, and a larger share keeps those of a smaller one.
    """
    digest = sha256(f"{seed}/{key}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def outcome(first: str, second: str) -> str:
    """What two independent verdicts come to: approved or rejected where both say so, else sent back."""
    return first if first == second else SENT_BACK
