"""`nearcast demo`: alerts around the world's cities, matched in front of your eyes."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nearcast.changes import changes_of
from nearcast.cli.demo_cities import CITIES
from nearcast.cli.demo_content import message, saved_search
from nearcast.cli.option_types import at_least_one, at_least_zero
from nearcast.hub import Hub
from nearcast.model import Circle, Window

if TYPE_CHECKING:
    import argparse

    from nearcast.model import Change

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
        f"[cyan]{escape(owners['search-0'])}[/]"
    )
    outcome = _publish(hub, args.messages, dice)
    console.print(_deliveries(outcome, owners))
    console.print(_explanation(hub))
    console.print(_drive(hub, outcome.texts))
    console.print(_best(hub, outcome.texts))
    console.print(_figures(hub, outcome))
    return 0


def _subscribe(hub: Hub, count: int, dice: random.Random) -> dict[str, str]:
    searches = [saved_search(number, dice) for number in range(count)]
    own = ("owner", "metadata")
    hub.apply({"op": "subscribe", **_without(search, own)} for search in searches)
    return {search["id"]: _wish(search) for search in searches}


def _without(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _wish(search: dict[str, Any]) -> str:
    return " where ".join(filter(None, (search["keywords"], search.get("where"))))


def _publish(hub: Hub, count: int, dice: random.Random) -> _Outcome:
    messages = [message(number, 0.0, dice) for number in range(count)]
    lines = [{"op": "publish", **_without(fields, ("expires",))} for fields in messages]
    texts = {fields["id"]: _told(fields) for fields in messages}
    started = time.perf_counter()
    table = hub.apply(lines)
    seconds = time.perf_counter() - started
    return _Outcome(count, changes_of(table), texts, seconds)


def _told(fields: dict[str, Any]) -> str:
    details = _without(fields["attributes"], ("kind",)).items()
    return f"{fields['text']} ({', '.join(f'{name} {value}' for name, value in details)})"


def _deliveries(outcome: _Outcome, owners: dict[str, str]) -> Table:
    table = Table("message", "text", "delivered to", "because of", title="the latest deliveries")
    for change in outcome.changes[-_SHOWN:]:
        text = outcome.texts[change.message]
        table.add_row(
            change.message, text, change.subscription, escape(owners[change.subscription])
        )
    return table


def _explanation(hub: Hub) -> str:
    """Say why something does not match that nearly does."""
    city, lon, lat = CITIES[0]
    keywords, where = 'flat (balcony OR terrace) -"ground floor"', "price <= 1200"
    hub.subscribe("mine", keywords=keywords, where=where, area=Circle((lon, lat), 5000))
    text = "Sunny flat, balcony to the yard"
    why = hub.explain("mine", text, at=(lon, lat), attributes={"price": 1350})
    question = f"Would '{text}' for 1350 in {city} reach {keywords} where {where}?"
    return f"{escape(question)} [yellow]{escape(str(why))}[/]"


def _drive(hub: Hub, texts: dict[str, str]) -> Table:
    """Send a live subscription through a city: its set changes with the place."""
    city, lon, lat = CITIES[0]
    title = f"a drive through {city}: flats within 6 km"
    table = Table("at", "change", "text", title=title)
    for step in range(-6, 7, 3):
        at = (round(lon + step / 100, 5), lat)
        if "driver" in hub:
            changes = hub.move("driver", area=Circle(at, 6000))
        else:
            changes = hub.subscribe("driver", keywords="flat", area=Circle(at, 6000), live=True)
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
    for id, score in hub.results("best"):
        table.add_row(f"{score:.6f}", id, texts[id])
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
