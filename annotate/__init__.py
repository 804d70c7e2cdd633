"""People's work: people, images, items, drafts, reviews, datasets and labels."""
