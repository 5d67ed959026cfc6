"""Groups of commands, and their help as plain text: rendering it in colour takes longer than most commands."""

from typing import Any

import typer
import typer.core

from assay.model.base import EXIT_USAGE

SETTINGS: dict[str, Any] = {"default_map": {"help": False}}
"""Settings of a group. The default for --help keeps typer from importing pydantic to find that there is none."""


OPTION_ALIASES = dict.fromkeys(("--html", "--report", "--save"), "--output")
"""Option name that people try -> name of the option here."""


class AliasCommand(typer.core.TyperCommand):
    """A command that also accepts the option names in `OPTION_ALIASES`, which its help does not list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace other option names, then parse as any command does."""
        known = {name for option in self.params for name in option.opts}
        # What follows is no option of this command, but of one that it starts.
        end = args.index("--") if "--" in args else len(args)
        own = [_translated(word, known) for word in args[:end]] if self.allow_interspersed_args else args[:end]
        return super().parse_args(ctx, own + args[end:])


def _translated(word: str, known: set[str]) -> str:
    name, sign, value = word.partition("=")
    other = OPTION_ALIASES.get(name, name)
    return f"{other}{sign}{value}" if name not in known and other in known else word


class Group(typer.core.TyperGroup):
    """A group whose help shows the whole first paragraph of each command."""

    def summaries(self, ctx: Any) -> list[tuple[str, str]]:
        """Return name and first paragraph of each command, in the listed order."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return [(name, summary(command.help)) for name, command in found if command is not None and not command.hidden]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as any group does; without arguments, print the help on standard error and exit."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            ctx.exit(EXIT_USAGE)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Format the list of commands as any group does, but do not shorten their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl(self.summaries(ctx))


def summary(text: str | None) -> str:
    """Return the first paragraph of a help text in one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def group(about: str | None = None, kind: type[Group] = Group) -> typer.Typer:
    """Return a group to which commands are added.

    Args:
        about: Help of the group; None: that of its callback.
        kind: Class of the group.
    """
    words: dict[str, Any] = {"help": about} if about else {}
    return _App(
        cls=kind, context_settings=SETTINGS, add_completion=False, rich_markup_mode=None, no_args_is_help=True, **words
    )


class _App(typer.Typer):
    """A typer app whose commands are of class `AliasCommand`."""

    def command(self, name: str | None = None, **words: Any) -> Any:
        """Add a command as any app does, by default of class `AliasCommand`."""
        return super().command(name, **{"cls": AliasCommand, **words})
