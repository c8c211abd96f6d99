"""`nearcast demo`: alerts around the world's cities, matched in front of your eyes."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from nearcast.changes import changes_of
from nearcast.cli.demo_cities import CITIES
from nearcast.cli.option_types import at_least_one, at_least_zero
from nearcast.hub import Hub
from nearcast.model import Circle, Window

if TYPE_CHECKING:
    import argparse

    from nearcast.model import Change

_TOPICS = {
    "coffee": ("free coffee until noon", "coffee tasting, no decaf", "half price coffee sale"),
    "jazz": ("free jazz concert tonight", "jazz trio live in the park", "late jazz session"),
    "flat": ("sunny flat for rent, two rooms", "small flat for sale", "flat share, free now"),
    "bicycle": ("used bicycle for sale", "free bicycle repair", "bicycle found, owner wanted"),
    "storm": ("storm warning, stay inside", "storm damage, road closed", "storm is over"),
    "job": ("job offer: python developer", "job fair today", "night job in a bakery"),
}
_WISHES = ("{0}", "{0} AND (free OR sale)", "{0} -decaf -closed", "free {0}", "{0} AND NOT warning")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Outcome:
    messages: int
    changes: list[Change]
    texts: dict[str, str]
    seconds: float


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the command."""
    command = commands.add_parser("demo", help="show what nearcast does, in the terminal")
    command.add_argument("--subscriptions", type=at_least_one, default=5_000, metavar="N")
    command.add_argument("--messages", type=at_least_one, default=2_000, metavar="N")
    command.add_argument("--seed", type=at_least_zero, default=1, metavar="N")
    command.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Subscribe, publish, and show who got what."""
    console = Console()
    dice = random.Random(args.seed)
    hub = Hub(window=Window(count=args.messages))
    owners = _subscribe(hub, args.subscriptions, dice)
    console.print(
        f"[bold]{len(hub):,} saved searches[/] around {len(CITIES)} cities, for example "
        f"[cyan]{owners['s0']}[/]"
    )
    outcome = _publish(hub, args.messages, dice)
    console.print(_deliveries(outcome, owners))
    console.print(_explanation(hub, owners))
    console.print(_drive(hub, outcome.texts))
    console.print(_best(hub, outcome.texts))
    console.print(_figures(hub, outcome))
    return 0


def _near(
    city: tuple[str, float, float], dice: random.Random, spread: float
) -> tuple[float, float]:
    _, lon, lat = city
    return (round(dice.gauss(lon, spread), 5), round(dice.gauss(lat, spread), 5))


def _subscribe(hub: Hub, count: int, dice: random.Random) -> dict[str, str]:
    owners = {}
    for number in range(count):
        city = dice.choice(CITIES)
        wish = dice.choice(_WISHES).format(dice.choice(sorted(_TOPICS)))
        radius_m = dice.choice((1_000, 3_000, 10_000))
        area = Circle(_near(city, dice, 0.03), radius_m)
        hub.subscribe(f"s{number}", keywords=wish, area=area)
        owners[f"s{number}"] = f"{wish} within {radius_m // 1000} km in {city[0]}"
    return owners


def _publish(hub: Hub, count: int, dice: random.Random) -> _Outcome:
    lines: list[dict[str, object]] = []
    texts = {}
    for number in range(count):
        texts[f"m{number}"] = text = dice.choice(dice.choice(list(_TOPICS.values())))
        at = _near(dice.choice(CITIES), dice, 0.03)
        lines.append({"op": "publish", "id": f"m{number}", "text": text, "at": at})
    started = time.perf_counter()
    table = hub.apply(lines)
    seconds = time.perf_counter() - started
    return _Outcome(count, changes_of(table), texts, seconds)


def _deliveries(outcome: _Outcome, owners: dict[str, str]) -> Table:
    table = Table("message", "text", "delivered to", "because of", title="the latest deliveries")
    for change in outcome.changes[-_SHOWN:]:
        text = outcome.texts[change.message]
        table.add_row(change.message, text, change.subscription, owners[change.subscription])
    return table


def _explanation(hub: Hub, owners: dict[str, str]) -> str:
    why = hub.explain("s0", "free coffee until noon", at=CITIES[0][1:])
    question = f"Would 'free coffee until noon' in {CITIES[0][0]} reach s0 ({owners['s0']})?"
    return f"{question} [yellow]{why}[/]"


def _drive(hub: Hub, texts: dict[str, str]) -> Table:
    """Send a live subscription through a city: its set changes with the place."""
    city, lon, lat = CITIES[0]
    title = f"a drive through {city}: whatever is free within 4 km"
    table = Table("at", "change", "text", title=title)
    for step in range(-6, 7, 3):
        at = (round(lon + step / 100, 5), lat)
        if "driver" in hub:
            changes = hub.move("driver", area=Circle(at, 4000))
        else:
            changes = hub.subscribe("driver", keywords="free", area=Circle(at, 4000), live=True)
        for change in changes[:3]:
            sign = "[green]+[/]" if change.change == "added" else "[red]-[/]"
            table.add_row(f"{at[0]:.3f}", f"{sign} {change.message}", texts[change.message])
    held = len(hub.results("driver"))
    table.caption = f"{held} messages in the set at the end; at most 3 changes shown per stop"
    return table


def _best(hub: Hub, texts: dict[str, str]) -> Table:
    city, *at = CITIES[0]
    words = ["free", "jazz", "concert"]
    hub.subscribe("best", mode="top", keywords=words, k=3, alpha=0.5, at=at)
    table = Table("score", "message", "text", title=f"top 3 for free jazz concert in {city}")
    for message, score in hub.results("best"):
        table.add_row(f"{score:.6f}", message, texts[message])
    return table


def _figures(hub: Hub, outcome: _Outcome) -> Table:
    stats = hub.stats()
    table = Table(title="figures", show_header=False)
    table.add_row("messages published", f"{outcome.messages:,}")
    table.add_row("deliveries", f"{len(outcome.changes):,}")
    if outcome.messages:
        micros = outcome.seconds / outcome.messages * 1e6
        table.add_row("time per message, Python included", f"{micros:.1f} µs")
    if stats["subscriptions"]:
        each = stats["memory_bytes"] / stats["subscriptions"]
        table.add_row("memory per saved search", f"{each:.0f} bytes")
    return table
