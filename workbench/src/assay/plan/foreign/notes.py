"""What is told of a study that was made from a command line."""

from dataclasses import dataclass, field


@dataclass
class Notes:
    """What is to be told of a study that was made from a command line."""

    lines: list[str] = field(default_factory=list)

    def add(self, what: str, why: str) -> None:
        """One line: an option, and what became of it."""
        line = f"{what}: {why}"
        if line not in self.lines:
            self.lines.append(line)
