"""`nearcast bench report`: results of the papers' experiments as a page with plots."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.bench.paper.pages import FIGURES, html, markdown, plot_of, read_entries
from nearcast.cli.usage import UsageError

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `report`."""
    parser = commands.add_parser(
        "report",
        help="one page with plots and verdicts from what `bench paper` and `bench growth` found",
        description="Write README.md with plots beside it, and index.html with everything in it, "
        "which needs no network.",
    )
    add = parser.add_argument
    add("--results", type=Path, default=Path("results"), metavar="DIR", help="with .jsonl files")
    add("--out", type=Path, default=Path("report"), metavar="DIR")
    add("--format", choices=["both", "markdown", "html"], default="both")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read results, write pages."""
    entries = read_entries(args.results)
    if not entries:
        what = "no results are there"
        raise UsageError(what, got=str(args.results), wanted="a folder with .jsonl files")
    args.out.mkdir(parents=True, exist_ok=True)
    plots = {entry.experiment.name: plot_of(entry) for entry in entries}
    if args.format != "html":
        figures = args.out / FIGURES
        figures.mkdir(exist_ok=True)
        for name, plot in plots.items():
            (figures / f"{name}.svg").write_text(plot, encoding="utf-8")
        (args.out / "README.md").write_text(markdown(entries), encoding="utf-8")
    if args.format != "markdown":
        (args.out / "index.html").write_text(html(entries, plots), encoding="utf-8")
    print(f"{len(entries)} experiments are in {args.out}", file=sys.stderr)
    return 0
