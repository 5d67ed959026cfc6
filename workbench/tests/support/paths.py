"""Where the tests' data and the repository are."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
GOLDEN = TESTS / "golden"
REPOSITORY = TESTS.parents[1]
