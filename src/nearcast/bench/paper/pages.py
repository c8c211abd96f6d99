"""Results as one page: all claims with their verdicts on top, then figure by figure.

As Markdown with plots in files beside it, and as one HTML file with everything in it, which needs
no network. Of several results of an experiment the largest scale is shown, then the newest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from nearcast.bench.paper.claims import HOLDS, IN_PART, NOT_HERE
from nearcast.bench.paper.registry import EXPERIMENTS, PAPERS
from nearcast.bench.paper.running import read_outcomes, verdict_of
from nearcast.bench.paper.scales import SCALES
from nearcast.bench.plots import draw, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nearcast.bench.paper.claims import Verdict
    from nearcast.bench.paper.experiment import Experiment
    from nearcast.bench.paper.outcome import Outcome
    from nearcast.bench.plots import Panel

TITLE = "The papers' experiments, measured here"
FIGURES = "figures"
HOW = (
    "Each claim of a paper is taken apart into statements about the numbers (who is faster where, "
    "by how much, how a curve goes). All true: it *holds*. At least a third: it *holds in part*. "
    "Less: it *does not hold here*. Medians that differ by less than 3 % are no order. Contenders "
    "took turns in one process; times are processor time unless the axis says otherwise; bars on "
    "points reach from the lowest to the highest repetition. In every run a sample of the answers "
    "was compared with brute force."
)
MARKS = {HOLDS: "✓", IN_PART: "◐", NOT_HERE: "✗"}
_SCALE_ORDER = [*SCALES, "growth"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An experiment with its result."""

    experiment: Experiment
    outcome: Outcome
    verdict: Verdict


def read_entries(folder: Path) -> list[Entry]:
    """Return the results in all `.jsonl` files of a folder, in the order of the registry."""
    best: dict[str, Outcome] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for outcome in read_outcomes(path):
            if outcome.name not in best or _rank(outcome) > _rank(best[outcome.name]):
                best[outcome.name] = outcome
    return [
        Entry(experiment, best[name], verdict_of(experiment, best[name]))
        for name, experiment in EXPERIMENTS.items()
        if name in best and _fits(experiment, best[name])
    ]


def _rank(outcome: Outcome) -> tuple[int, str]:
    return _SCALE_ORDER.index(outcome.scale), outcome.provenance["date"]


def _fits(experiment: Experiment, outcome: Outcome) -> bool:
    """Whether a result is of the experiment as it is defined now."""
    return [plot.title for plot in experiment.plots] == [panel.title for panel in outcome.panels]


def plot_of(entry: Entry) -> str:
    """Return the figure of an experiment as SVG."""
    experiment = entry.experiment
    title = f"{experiment.paper} {experiment.figure}: {experiment.title}"
    return draw(title, entry.outcome.panels, experiment.name)


# ---- what both pages say ----------------------------------------------------------------------


def run_facts(entries: Sequence[Entry]) -> list[str]:
    """Return where the numbers come from, a sentence for each run."""
    said: dict[str, int] = {}
    for entry in entries:
        source = entry.outcome.provenance
        machine = source["machine"]
        commit = (source["commit"] or "unknown")[:10]
        changed = " with uncommitted changes" if source["is_dirty"] else ""
        text = (
            f"scale `{entry.outcome.scale}`, {source['date'][:10]}, commit {commit}{changed}, "
            f"{machine['cpu']}, {machine['cores']} cores"
        )
        said[text] = said.get(text, 0) + 1
    return [f"{count} experiments: {text}." for text, count in said.items()]


def missing_facts(entries: Sequence[Entry]) -> list[str]:
    """Return which experiments have no result, in a sentence if there are any."""
    there = {entry.experiment.name for entry in entries}
    missing = [name for name in EXPERIMENTS if name not in there]
    return [f"Not measured yet: {', '.join(missing)}."] if missing else []


def data_facts(entries: Sequence[Entry]) -> str:
    """Return which sources of texts were used."""
    names = {run["source"] for entry in entries for run in _runs(entry.outcome)}
    return "Sources of texts and places: " + ", ".join(f"`{name}`" for name in sorted(names)) + "."


def _runs(outcome: Outcome) -> Iterator[Mapping[str, Any]]:
    for study in outcome.facts["studies"]:
        yield from study["runs"]


def sizes_of(outcome: Outcome) -> str:
    """Return how large an experiment was."""
    parts = []
    for name, title in (
        ("subscriptions", "subscriptions"),
        ("objects", "moving subscriptions"),
        ("window", "messages in the window"),
        ("messages", "messages"),
    ):
        found = sorted({run[name] for run in _runs(outcome) if run.get(name)})
        if found:
            span = short(found[0]) + (f" to {short(found[-1])}" if len(found) > 1 else "")
            parts.append(f"{span} {title}")
    sources = sorted({run["source"] for run in _runs(outcome)})
    return f"{', '.join(parts)}; {', '.join(sources)}; {outcome.seconds:.0f} s"


def counts_of(entries: Sequence[Entry]) -> str:
    """Return how many claims got which verdict."""
    counts = Counter(entry.verdict.word for entry in entries)
    return ", ".join(f"{counts[word]} {_plural(word)}" for word in MARKS)


def _plural(word: str) -> str:
    return {HOLDS: "hold", IN_PART: "hold in part", NOT_HERE: "do not hold here"}[word]


# ---- Markdown ---------------------------------------------------------------------------------


def markdown(entries: Sequence[Entry]) -> str:
    """Return the page; plots are files in `figures`."""
    if not entries:
        return f"# {TITLE}\n\nNo results are recorded yet: run `nearcast bench paper`.\n"
    lines = [f"# {TITLE}", "", f"Of {len(entries)} claims {counts_of(entries)}. {HOW}", ""]
    facts = [*run_facts(entries), data_facts(entries), *missing_facts(entries)]
    lines += [*(f"- {fact}" for fact in facts), ""]
    lines += ["| figure | claim | verdict |", "|---|---|---|"]
    for entry in entries:
        experiment, verdict = entry.experiment, entry.verdict
        name = f"[{experiment.name}](#{_anchor(entry)})"
        lines.append(f"| {name} | {experiment.claim} | {MARKS[verdict.word]} {verdict.word} |")
    for paper, title in PAPERS.items():
        chosen = [entry for entry in entries if entry.experiment.paper == paper]
        if chosen:
            lines += ["", f"## {paper}: {title}"]
        for entry in chosen:
            lines += ["", *_section(entry)]
    return "\n".join(lines) + "\n"


def _heading(entry: Entry) -> str:
    experiment = entry.experiment
    return f"{experiment.name} {experiment.figure}: {experiment.title}"


def _anchor(entry: Entry) -> str:
    """Return the anchor that GitHub gives to the heading."""
    kept = "".join(c for c in _heading(entry).lower() if c.isalnum() or c in "- _")
    return kept.replace(" ", "-")


def _section(entry: Entry) -> Iterator[str]:
    experiment, verdict = entry.experiment, entry.verdict
    yield f"### {_heading(entry)}"
    yield ""
    lost = " (The figure is lost in the text at hand.)" if experiment.lost else ""
    yield f"Claim: {experiment.claim}{lost}"
    yield ""
    reason = f" {verdict.reason}." if verdict.reason else ""
    yield f"{MARKS[verdict.word]} **{verdict.word}**.{reason}"
    yield ""
    yield f"![{experiment.name}]({FIGURES}/{experiment.name}.svg)"
    yield ""
    yield f"Scale `{entry.outcome.scale}`: {sizes_of(entry.outcome)}."


# ---- HTML -------------------------------------------------------------------------------------

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1060px; margin: 2em auto; padding: 0 1em;
  color: #222; background: #fff; }
table { border-collapse: collapse; } td, th { padding: .25em .6em; text-align: left;
  border-bottom: 1px solid #ddd; vertical-align: top; } td.n { text-align: right; }
svg { max-width: 100%; height: auto; } details { margin: .5em 0 2em; }
.yes { color: #1a7f37; } .part { color: #9a6700; } .no { color: #b42318; }
""".strip()
_CLASSES = {HOLDS: "yes", IN_PART: "part", NOT_HERE: "no"}


def html(entries: Sequence[Entry], plots: Mapping[str, str]) -> str:
    """Return the page in one file, with the plots of experiments by their name."""
    facts = [*run_facts(entries), data_facts(entries), *missing_facts(entries)]
    rows = "\n".join(_html_row(entry) for entry in entries)
    parts = [
        f"<h1>{escape(TITLE)}</h1>",
        f"<p>Of {len(entries)} claims {counts_of(entries)}. {_inline(HOW)}</p>",
        "<ul>" + "".join(f"<li>{_inline(fact)}</li>" for fact in facts) + "</ul>",
        f"<table><tr><th>figure</th><th>claim</th><th>verdict</th></tr>\n{rows}</table>",
    ]
    for paper, title in PAPERS.items():
        chosen = [entry for entry in entries if entry.experiment.paper == paper]
        if chosen:
            parts.append(f"<h2>{escape(paper)}: {escape(title)}</h2>")
        parts += [_html_section(entry, plots[entry.experiment.name]) for entry in chosen]
    head = f'<meta charset="utf-8"><title>{escape(TITLE)}</title><style>{_STYLE}</style>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _inline(text: str) -> str:
    """Return text with the emphasis and the code of Markdown."""
    marked = escape(text)
    for mark, tag in (("`", "code"), ("*", "em")):
        pieces = marked.split(mark)
        marked = "".join(
            piece if i % 2 == 0 else f"<{tag}>{piece}</{tag}>" for i, piece in enumerate(pieces)
        )
    return marked


def _html_verdict(verdict: Verdict) -> str:
    return f'<span class="{_CLASSES[verdict.word]}">{MARKS[verdict.word]} {verdict.word}</span>'


def _html_row(entry: Entry) -> str:
    name = entry.experiment.name
    cells = (
        f'<a href="#{name}">{name}</a>',
        escape(entry.experiment.claim),
        _html_verdict(entry.verdict),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _html_section(entry: Entry, plot: str) -> str:
    experiment, outcome = entry.experiment, entry.outcome
    tables = "".join(_html_panel(panel) for panel in outcome.panels)
    reason = f" {escape(entry.verdict.reason)}." if entry.verdict.reason else ""
    return (
        f'<h3 id="{experiment.name}">{escape(_heading(entry))}</h3>'
        f"<p>Claim: {escape(experiment.claim)}</p>"
        f"<p>{_html_verdict(entry.verdict)}.{reason}</p>\n{plot}"
        f"<p>Scale {outcome.scale}: {escape(sizes_of(outcome))}.</p>"
        f"<details><summary>Numbers</summary>{tables}</details>\n"
    )


def _html_panel(panel: Panel) -> str:
    head = "".join(f"<th>{escape(line.name)}</th>" for line in panel.lines)
    rows = []
    for place, x in enumerate(panel.xs):
        values = [line.values[place] for line in panel.lines]
        cells = "".join(
            f'<td class="n">{"" if value is None else short(value[0])}</td>' for value in values
        )
        shown = escape(x) if isinstance(x, str) else short(x)
        rows.append(f"<tr><td>{shown}</td>{cells}</tr>")
    title = f"<p>{escape(panel.title)}, {escape(panel.y_title)}</p>"
    first = f"<tr><th>{escape(panel.x_title)}</th>{head}</tr>"
    return f"{title}<table>{first}{''.join(rows)}</table>"
