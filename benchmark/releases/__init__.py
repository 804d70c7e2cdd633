"""The release format `fpco-release/1`: reading, checking and writing its files (design section 5)."""

FORMAT = "fpco-release/1"
ITEMS, RESPONSES, LABELS, HUMAN_LABELS = "items.jsonl", "responses.jsonl", "labels.jsonl", "human_labels.jsonl"
ADJUDICATIONS = "adjudications.jsonl"
