"""Commands that stand below one word, and their help: plain text, since painting it takes longer than most commands."""

from typing import Any

import typer
import typer.core

from assay.model.base import EXIT_USAGE

SETTINGS: dict[str, Any] = {"default_map": {"help": False}}
"""Settings of a group: with a value of its own for --help, typer does not load pydantic to find that there is none."""


OTHER_NAMES = dict.fromkeys(("--html", "--report", "--save"), "--output")
"""Options as people may know them from elsewhere, or from older versions -> as they are called here."""


class Command(typer.core.TyperCommand):
    """A command whose options may also be given by other names, which its help does not list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As of any command."""
        known = {name for option in self.params for name in option.opts}
        return super().parse_args(ctx, [_known_word(word, known) for word in args])


def _known_word(word: str, known: set[str]) -> str:
    name, sign, value = word.partition("=")
    other = OTHER_NAMES.get(name, name)
    return f"{other}{sign}{value}" if name not in known and other in known else word


class Group(typer.core.TyperGroup):
    """A group whose help has of each command the whole first paragraph."""

    def summaries(self, ctx: Any) -> list[tuple[str, str]]:
        """Name and first paragraph of each command, in the order in which they are listed."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return [(name, summary(command.help)) for name, command in found if command is not None and not command.hidden]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As of any group; without a word, the help goes to standard error."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            ctx.exit(EXIT_USAGE)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """As of any group, but nothing is cut off."""
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries(ctx))


def summary(text: str | None) -> str:
    """The first paragraph of a help text, in one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def group(about: str | None = None, kind: type[Group] = Group) -> typer.Typer:
    """A group to which commands are added.

    Args:
        about: Its help; None takes that of its callback.
        kind: What it does with words that are none of its commands.
    """
    words: dict[str, Any] = {"help": about} if about else {}
    return _App(
        cls=kind, context_settings=SETTINGS, add_completion=False, rich_markup_mode=None, no_args_is_help=True, **words
    )


class _App(typer.Typer):
    """An app whose commands are of our class."""

    def command(self, name: str | None = None, **words: Any) -> Any:
        """As of any app."""
        return super().command(name, **{"cls": Command, **words})
