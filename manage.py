#!/usr/bin/env python
"""Run a management command of FPCO Studio."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fpco_site.settings")
    from django.core.management import execute_from_command_line

    from fpco_site.one_sentence import in_one_sentence

    with in_one_sentence():
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
