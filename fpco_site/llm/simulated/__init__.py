"""The offline models: what they say is computed from the conversation alone and is marked as simulated."""

import hashlib


def chance(*parts: str) -> float:
    """A number in [0, 1) that depends on `parts` alone: the offline models' only source of variety."""
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 256**7


def pick[T](choices: list[T] | tuple[T, ...], *parts: str) -> T:
    """One of `choices`, by `parts` alone."""
    return choices[int(chance(*parts) * len(choices))]
