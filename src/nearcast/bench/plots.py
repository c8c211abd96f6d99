"""Plots in one style: panels beside each other, a line per contender, as SVG of a few kilobytes.

A contender has the same colour and marker in every plot. Values are a median with its spread. Where
the axis has names in place of numbers, points become bars. Matplotlib is the extra `bench`.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from xml.etree import ElementTree

from nearcast.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Value: TypeAlias = "tuple[float, float, float] | None"
"""Median, lowest and highest of the repetitions; None where nothing was measured."""

COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#7f7f7f", "#882255", "#999933", "#332288"),
)
"""Okabe and Ito's colours and some of Tol's, which people tell apart however they see colours."""
MARKERS = "osD^vPX<>*"
OURS = "auto"
OUR_COLOUR = "#000000"
KINDS = (
    *("lfilter", "mbr-trie", "pt-quadtree", "rt++-tree", "ir-tree", "keyword-first"),
    *("spatial-first", "rt-tree", "rt+-tree", "ap-tree", "iq-tree", "rq-tree", "trie-qd"),
    *("ap+-tree", "iq+-tree", "rq+-tree", "ss-index", "kk-index", "igpt", "ciq", "ipt"),
    *("hash", "location", "keyword", "prefix", "lucene-monitor", "postgis", "python-dict"),
)
"""Names whose colour must not depend on what else is in a plot."""
PANEL_INCHES = (3.3, 2.6)
PANELS_IN_A_ROW = 4
BAR_ROOM = 0.8


@dataclass(frozen=True, slots=True)
class Line:
    """One contender along an axis."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: what is on its axes, and its lines. All values of an axis are of one type."""

    title: str
    x_title: str
    y_title: str
    xs: tuple[float | str, ...]
    lines: tuple[Line, ...]


def draw(title: str, panels: Sequence[Panel], name: str = "plot") -> str:
    """Return panels under one title as an SVG element.

    Parameters
    ----------
    title
        Stands above all panels.
    panels
        At least one; more than four make further rows.
    name
        Different for all plots of one page: ids inside depend on it.

    Raises
    ------
    UnsupportedError
        If Matplotlib is not installed.
    """
    make_figure = _figure_type()
    columns = min(len(panels), PANELS_IN_A_ROW)
    rows = -(-len(panels) // columns)
    size = (PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows + 0.7)
    figure = make_figure(figsize=size, layout="constrained")
    figure.suptitle(title, fontsize=10, fontweight="bold")
    styles = _styles([line.name for panel in panels for line in panel.lines])
    for place, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, place + 1), panel, styles)
    handles = {
        label: handle
        for axes in figure.axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=min(len(handles), 2 * columns),
        frameon=False,
        fontsize=8,
    )
    return _small_svg(figure, name)


def _figure_type() -> type[Figure]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        what = "plots need Matplotlib"
        raise UnsupportedError(what, hint="pip install 'nearcast[bench]'") from error
    return Figure


def _styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each name; kinds with parameters take what is left."""
    taken: dict[str, tuple[str, str]] = {}
    for name in dict.fromkeys(names):
        if name == OURS:
            taken[name] = (OUR_COLOUR, "o")
        elif name in KINDS:
            taken[name] = _style(KINDS.index(name))
    others = [name for name in dict.fromkeys(names) if name not in taken]
    used = {colour for colour, _ in taken.values()}
    free = [i for i, colour in enumerate(COLOURS) if colour not in used] or [*range(len(COLOURS))]
    for place, name in enumerate(others):
        taken[name] = _style(free[place % len(free)])
    return taken


def _style(number: int) -> tuple[str, str]:
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def _draw_panel(axes: Axes, panel: Panel, styles: dict[str, tuple[str, str]]) -> None:
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_title, fontsize=8)
    axes.set_ylabel(panel.y_title, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    by_name = isinstance(panel.xs[0], str)
    for place, line in enumerate(panel.lines):
        colour, marker = styles[line.name]
        known = [(i, value) for i, value in enumerate(line.values) if value is not None]
        if not known:
            continue
        medians = [value[0] for _, value in known]
        errors = _errors([value for _, value in known])
        if by_name:
            width = BAR_ROOM / len(panel.lines)
            xs = [i - BAR_ROOM / 2 + width * (place + 0.5) for i, _ in known]
            axes.bar(xs, medians, width, color=colour, label=line.name)
            axes.errorbar(xs, medians, errors, fmt="none", ecolor="#555555", elinewidth=0.6)
        else:
            axes.errorbar(
                [float(panel.xs[i]) for i, _ in known],
                medians,
                errors,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=2 if line.name == OURS else 1.2,
                elinewidth=0.6,
                label=line.name,
            )
    _scale_axes(axes, panel, by_name=by_name)


def _errors(values: Sequence[tuple[float, float, float]]) -> list[list[float]]:
    return [[m - low for m, low, _ in values], [high - m for m, _, high in values]]


def _scale_axes(axes: Axes, panel: Panel, *, by_name: bool) -> None:
    """Take logarithms where values spread over more than a decade, ticks where values are."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    medians = [value[0] for line in panel.lines for value in line.values if value is not None]
    lowest, highest = min(medians, default=0.0), max(medians, default=0.0)
    if lowest > 0 and highest / lowest > 10:
        axes.set_yscale("log")
        fine = (1.0, 2.0, 5.0) if highest / lowest < 1_000 else (1.0,)
        axes.yaxis.set_major_locator(LogLocator(subs=fine))
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    if by_name:
        axes.set_xticks(range(len(panel.xs)), [str(x) for x in panel.xs], fontsize=7)
        axes.minorticks_off()
        return
    xs = [float(x) for x in panel.xs]
    if min(xs) > 0 and max(xs) / min(xs) >= 16:
        axes.set_xscale("log")
    axes.set_xticks(xs, [short(x) for x in xs])
    axes.minorticks_off()


def short(value: float) -> str:
    """Return a number as a tick has it.

    Examples
    --------
    >>> [short(x) for x in (0.0001, 0.5, 20, 12_500, 3_000_000)]
    ['0.0001', '0.5', '20', '12.5k', '3M']
    """
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{letter}"
    return f"{value:.4g}"


# ---- a small file -----------------------------------------------------------------------------

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"(?<![#\d.])-?\d+\.\d+")
_FONTS = re.compile(r"font-family:[^;\"]*;? ?|font: ([\d.a-z ]*px) [^;]*")
_REFERENCE = re.compile(r"#([\w-]+)")
_UNUSED = {f"{{{_SVG}}}{tag}" for tag in ("metadata", "clipPath", "style")}
_COMMAND = re.compile(r" ?([A-Za-z]) ?")
_NO_TURN = re.compile(r"rotate\(-?0 ")


def _small_svg(figure: Figure, name: str) -> str:
    """Return the element without what a page does not need; the same figure, the same text."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(text.getvalue().encode())
    used = set(_REFERENCE.findall(text.getvalue()))
    for element in root.iter():
        _strip(element, used)
    _flatten(root)
    _share_styles(root, name)
    root.set("font-family", "sans-serif")
    svg = ElementTree.tostring(root, encoding="unicode")
    svg = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), svg)
    return svg.replace("><", ">\n<") + "\n"


def _strip(element: ElementTree.Element, used: set[str]) -> None:
    """Drop ids that nothing refers to, names of fonts, and turns by nothing."""
    if element.get("id") not in used:
        element.attrib.pop("id", None)
    if _NO_TURN.match(element.get("transform", "")):
        del element.attrib["transform"]
    if style := element.get("style"):
        element.set("style", _FONTS.sub("", style).strip("; ").replace(": ", ":"))
    element.attrib.pop("clip-path", None)  # nothing reaches beyond its axes
    if path := element.get("d"):
        element.set("d", _COMMAND.sub(r"\1", " ".join(path.split())))
    is_text = element.tag.endswith("text") or element.tag.endswith("style")
    element.text = element.text if is_text else None
    element.tail = None


def _flatten(element: ElementTree.Element) -> None:
    """Replace groups that say nothing by what is in them, and drop what is not for a page."""
    kept: list[ElementTree.Element] = []
    for child in element:
        _flatten(child)
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            kept.extend(child)
        elif child.tag not in _UNUSED:
            kept.append(child)
    element[:] = kept


def _share_styles(root: ElementTree.Element, name: str) -> None:
    """Give each style a class; a class has the plot's name, for a page has many plots."""
    classes: dict[str, str] = {}
    for element in root.iter():
        if style := element.attrib.pop("style", None):
            element.set("class", classes.setdefault(style, f"{name}-{len(classes)}"))
    rules = [f".{cls}{{{style}}}" for style, cls in classes.items()]
    sheet = ElementTree.Element(f"{{{_SVG}}}style")
    sheet.text = "".join(rules)
    root.insert(0, sheet)
