"""Dialogues of a user with the program: what is typed, and what must be answered.

A file is what a terminal would show. A line with `$ ` is typed, and its answer must be as it stands. A line with `% `
is typed, too, but of its answer only the words must: each number is written `N`, and blanks and rules of tables as
one. A line `...` stands for any lines. `[exit code 2]` ends the answer of a command that fails so. No line of an
answer may be wider than 80 columns, whatever stands for it in the file, but for errors and hints: each is one line.

To add one, write the lines that are typed into a file and execute the tests with ASSAY_UPDATE_DIALOGUES=1: answers
that do not fit are written anew. Then look at them, and put `...` for what another machine would answer otherwise.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

COLUMNS = 80
NUMBER = re.compile(r"(?<![A-Za-z_])[-+]?\d+(?:[.,:]\d+)*(?:T\d+)?")
ANY = "..."
ERROR = re.compile(r"(\S+: )?error: |\s*hint: |warning: |note: ")


@dataclass(frozen=True)
class Turn:
    """Something that is typed.

    Attributes:
        command: Without its mark.
        exact: Whether the answer must be as it stands.
        answer: The lines that are expected.
    """

    command: str
    exact: bool
    answer: tuple[str, ...]

    @property
    def typed(self) -> str:
        """The line of the file."""
        return f"{'$' if self.exact else '%'} {self.command}"


def read(text: str) -> list[Turn]:
    """The turns of a file."""
    turns: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(("$ ", "% ")):
            turns.append((line, []))
        elif turns:
            turns[-1][1].append(line)
        else:
            raise ValueError(f"a dialogue begins with something typed, not with {line!r}")
    return [Turn(line[2:], line[0] == "$", tuple(answer)) for line, answer in turns]


def masked(line: str) -> str:
    """A line of which only the words count."""
    return re.sub(r"\s+", " ", re.sub(r"[─━┄-]{2,}", "──", NUMBER.sub("N", line))).strip()


def fits(expected: Sequence[str], heard: Sequence[str]) -> bool:
    """Whether lines are as expected, where a line `...` stands for any lines."""
    reached = {0}
    for line in expected:
        if line == ANY:
            reached = set(range(min(reached), len(heard) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(heard) and heard[at] == line}
        if not reached:
            return False
    return len(heard) in reached


def hold(text: str, answer: Callable[[str], tuple[int, str]]) -> tuple[str, list[str]]:
    """Hold a dialogue.

    Args:
        text: Its file.
        answer: Executes a command; tells its exit code and what it prints.

    Returns:
        The file as it should be, and what is wrong with the answers.
    """
    lines: list[str] = []
    wrong: list[str] = []
    for turn in read(text):
        code, said = answer(turn.command)
        raw = [line.rstrip() for line in said.splitlines()]
        wrong += [
            f"{turn.typed}: {len(line)} columns: {line}"
            for line in raw
            if len(line) > COLUMNS and not ERROR.match(line)
        ]
        heard = raw if turn.exact else [masked(line) for line in raw]
        if code:
            heard.append(f"[exit code {code}]")
        good = fits(turn.answer, heard)
        if not good:
            wrong.append("\n".join((f"{turn.typed}: another answer:", *heard)))
        lines += [turn.typed, *(turn.answer if good else heard)]
    return "\n".join(lines) + "\n", wrong
