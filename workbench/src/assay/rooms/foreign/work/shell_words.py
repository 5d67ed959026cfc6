"""Splits a command line into words as a shell does, with the variables that are set here."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from assay.model.base import AssayError

_OPERATOR = re.compile(r"&>>?|>>|>\||>&|<<<|<<|<&|<>|\|\||\|&|&&|[|&;<>]")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^{}]*))?\})")


class ShellWord(NamedTuple):
    """A word of a command line.

    Attributes:
        value: The word, without quotes.
        is_operator: It is a pipe, a redirection or what separates commands.
        is_plain: No part of it was quoted.
    """

    value: str
    is_operator: bool = False
    is_plain: bool = True


class ShellLine(NamedTuple):
    """A command line.

    Attributes:
        words: Its words. Variables that are not set, and commands in `$(...)`, stand in them as they were written.
        unset: Names of the variables that are not set, in order.
    """

    words: list[ShellWord]
    unset: list[str]


def shell_line(text: str, variables: Mapping[str, str]) -> ShellLine:
    """Split a command line.

    Args:
        text: The command line, as it was typed.
        variables: Values of its variables.

    Raises:
        AssayError: A quote or command substitution has no end.
    """
    scanner = _Scanner(text, variables)
    scanner.scan()
    return ShellLine(scanner.words, list(dict.fromkeys(scanner.unset)))


class _Scanner:
    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.line, self.variables, self.at = text, variables, 0
        self.words: list[ShellWord] = []
        self.unset: list[str] = []
        self.word: str | None = None
        self.is_plain = True

    def scan(self) -> None:
        """Read all words."""
        while self.at < len(self.line):
            letter = self.line[self.at]
            if letter.isspace():
                self._end()
                self.at += 1
            elif letter in "|&;<>":
                self._operator()
            elif letter == "'":
                self._add(self._until("'", 1), is_plain=False)
            elif letter == '"':
                self._quoted()
            elif letter == "\\":
                self._add(self._escaped(), is_plain=False)
            else:
                self._letter(is_quoted=False)
        self._end()

    def _letter(self, is_quoted: bool) -> None:
        """Read a letter, or what begins with a `$` or a backquote."""
        match = _VARIABLE.match(self.line, self.at)
        if self.line.startswith("$(", self.at):
            self._add(self._substitution())
        elif self.line[self.at] == "`":
            self._add(f"`{self._until('`', 1)}`")
        elif match is None:
            self._add(self.line[self.at])
            self.at += 1
        else:
            self.at = match.end()
            self._variable(match, is_quoted)

    def _variable(self, match: re.Match[str], is_quoted: bool) -> None:
        name = match[1] or match[2]
        value = self.variables.get(name) or match[3]
        if value is None:
            self.unset.append(name)
            self._add(match[0])
        elif is_quoted:
            self._add(value)
        else:
            first, *others = re.split(r"\s+", value)
            if first:
                self._add(first)
            for other in others:
                self._end()
                if other:
                    self._add(other)

    def _quoted(self) -> None:
        self.at += 1
        self._add("", is_plain=False)
        while self.at < len(self.line) and self.line[self.at] != '"':
            if self.line[self.at] == "\\" and self.line[self.at + 1 : self.at + 2] in tuple('"\\$`'):
                self._add(self._escaped())
            else:
                self._letter(is_quoted=True)
        if self.at >= len(self.line):
            raise _unreadable("no closing quotation")
        self.at += 1

    def _escaped(self) -> str:
        if self.at + 1 >= len(self.line):
            raise _unreadable("nothing behind a backslash")
        self.at += 2
        return self.line[self.at - 1]

    def _until(self, end: str, skipped: int) -> str:
        place = self.line.find(end, self.at + skipped)
        if place < 0:
            raise _unreadable("no closing quotation")
        found = self.line[self.at + skipped : place]
        self.at = place + 1
        return found

    def _substitution(self) -> str:
        """Return a command substitution as it was written, with those in it."""
        start, depth = self.at, 0
        for place in range(start + 1, len(self.line)):
            depth += {"(": 1, ")": -1}.get(self.line[place], 0)
            if not depth:
                self.at = place + 1
                return self.line[start : self.at]
        raise _unreadable("no closing parenthesis")

    def _operator(self) -> None:
        match = _OPERATOR.match(self.line, self.at)
        assert match is not None
        descriptor = ""
        if match[0][0] in "<>" and self.is_plain and (self.word or "").isdigit():
            descriptor, self.word = self.word or "", None
        self._end()
        self.words.append(ShellWord(descriptor + match[0], is_operator=True))
        self.at = match.end()

    def _add(self, text: str, is_plain: bool = True) -> None:
        self.word = (self.word or "") + text
        self.is_plain = self.is_plain and is_plain

    def _end(self) -> None:
        if self.word is not None:
            self.words.append(ShellWord(self.word, is_plain=self.is_plain))
        self.word, self.is_plain = None, True


def _unreadable(why: str) -> AssayError:
    return AssayError(f"the command line cannot be read: {why}", "quote it as for a shell")
