"""Notes on a study that was made from a command line."""

from dataclasses import dataclass, field


@dataclass
class Notes:
    """Notes on how a study differs from the command line that it was made from."""

    lines: list[str] = field(default_factory=list)

    def add(self, what: str, why: str) -> None:
        """Add a line with an option and how the study treats it, unless it is there already."""
        line = f"{what}: {why}"
        if line not in self.lines:
            self.lines.append(line)


def note_variable(name: str, notes: Notes) -> None:
    """Note that a study sets no environment variables. The value is left out, since it may be a secret."""
    notes.add(name, "a study sets no variables of the environment: set it where engines are started, if they need it")
