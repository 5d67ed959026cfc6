"""The table of exit codes says what the program does."""

import re

from paths import REPOSITORY

from assay.model import base

GUIDE = REPOSITORY / "docs" / "guides" / "run-a-study.md"


def test_the_guide_has_every_exit_code_and_no_other() -> None:
    table = GUIDE.read_text().partition("## Exit codes")[2].partition("\n## ")[0]
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert told == {value for name, value in vars(base).items() if name.startswith("EXIT_")}
