"""Providers of language models and the engine that calls them."""
