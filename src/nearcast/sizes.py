"""How large is it? What `stats` returns."""

from __future__ import annotations


class Sizes(dict[str, int]):
    """Sizes by name: a dictionary that is shown as a table.

    Examples
    --------
    >>> Sizes(subscriptions=1234, memory_bytes=5_600_000)
    subscriptions      1,234
    memory_bytes   5,600,000
    """

    def __repr__(self) -> str:
        """Return a line for each."""
        shown = {name: f"{value:,}" for name, value in self.items()}
        names, values = (max(map(len, part), default=0) for part in (shown, shown.values()))
        return "\n".join(f"{name:<{names}}  {value:>{values}}" for name, value in shown.items())
