#!/usr/bin/env python3
"""Predict totals that are known, and say how often the interval holds them; --page writes docs/prediction.md."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # The bench's modules, in place of this directory's.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from prediction.command import main

    main()
