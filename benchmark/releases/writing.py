"""Files of a release, written with their hash and count as they go."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.records import canonical


@dataclass
class Writer:
    """Writes files below `folder` and remembers what the manifest must say of them."""

    folder: Path
    counts: dict[str, int] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)

    def jsonl(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        """One canonical JSON object a line; a file without rows is not written."""
        digest, count, path = hashlib.sha256(), 0, self.folder / name
        with path.open("wb") as file:
            for row in rows:
                line = canonical(row).encode() + b"\n"
                file.write(line)
                digest.update(line)
                count += 1
        if not count:
            path.unlink()
            return
        self.counts[name], self.sha256[name] = count, digest.hexdigest()

    def file(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.sha256[name] = hashlib.sha256(data).hexdigest()

    def manifest(self, facts: dict[str, Any]) -> str:
        """Write manifest.json last; returns its sha256, which names the release."""
        whole = {**facts, "counts": self.counts, "sha256": self.sha256}
        data = (json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=True) + "\n").encode()
        (self.folder / "manifest.json").write_bytes(data)
        return hashlib.sha256(data).hexdigest()
