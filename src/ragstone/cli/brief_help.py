"""Help of a command with many options: those that a newcomer needs; the rest with `--help-all`."""

import functools
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from ragstone.kernel.errors import plural

FEW_OPTIONS = 12  # that a help shows all of
HOW = """
--engine --mask --batch --keep-failures --bounds --deadline --offline --worksheet --force --strict --yes
--config --seed --processes"""
WHAT = """
--chunks --match --method --size --embedder --trec --where --user-model --samples --like --repeats
--critic-model --glob --one-call --each-turn --closed-book --fictional --test-share --judgements --each
--family --probe --question --answer --reference --time --quality --keep-personal-data --shared --system-a
--system-b --min-effect --policy --chrf --originals --again --parallel --base --measure --sequential --stratum
--freeze --proposer --yes-from --organization --dataset --experiment --second-model --tables --duplicates
--max-file-mb --without-extras"""
RARE = frozenset(f"{HOW} {WHAT}".split())
"""Options of how a command works, whatever it makes, and of what it makes in an unusual way."""
SHOWN_ALL = "help_all"


class BriefCommand(TyperCommand):
    """A command whose help leaves out its rare options, where it has many."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - of typer's own click
        """Return the parameters, with --help-all where --help does not show all of them."""
        if not self._left_out:
            return super().get_params(ctx)
        help_all = TyperOption(
            param_decls=["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Show every option and exit.",
            callback=_show_all,
        )
        return [*super().get_params(ctx), help_all]

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the help: with all options if they were asked for."""
        left_out = [] if ctx.meta.get(SHOWN_ALL) else self._left_out
        epilog = self.epilog
        for option in left_out:
            option.hidden = True
        if left_out:
            self.epilog = f"{plural(len(left_out), 'more option')}: `{ctx.command_path} --help-all`"
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = epilog
            for option in left_out:
                option.hidden = False

    @functools.cached_property
    def _left_out(self) -> list[TyperOption]:
        # `--trust` is rare where it is a flag; that of `agree` is a bar.
        options = [each for each in self.params if isinstance(each, TyperOption) and not each.hidden]
        rare = [
            each
            for each in options
            if RARE.intersection(each.opts) or (each.is_flag and "--trust" in each.opts)
        ]
        return rare if len(options) > FEW_OPTIONS else []


def _show_all(ctx: Any, _option: object, value: bool) -> None:  # noqa: ANN401 - as click calls it
    if value and not ctx.resilient_parsing:
        ctx.meta[SHOWN_ALL] = True
        typer.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
