"""Pure statistics: arrays in, estimates with interval and n out. No Django, no database."""
