#!/usr/bin/env python3
"""Assay and fio on the same work, in pairs; prints medians, ratios and what follows, writes the page."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # The bench's modules, in place of this directory's.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from program import start

    from agreement.command import main

    start("agreement", main)
