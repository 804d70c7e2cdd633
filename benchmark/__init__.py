"""Machines' work: models, runs, responses, detectors, validation, results and releases."""
