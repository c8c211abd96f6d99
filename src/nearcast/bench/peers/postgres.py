"""PostgreSQL: subscriptions as rows, a message as a query, by psycopg over loopback."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from nearcast.bench.peers.calls import answers, timed
from nearcast.bench.peers.peer import Found, MissingPeerError
from nearcast.bench.peers.postgres_server import missing, running_server
from nearcast.bench.process_times import descendants_seconds

if TYPE_CHECKING:
    import psycopg

    from nearcast.bench.peers.workload import PeerWorkload

SETTINGS = ("shared_buffers=2GB", "work_mem=64MB", "maintenance_work_mem=1GB", "jit=off")
TABLE = "create unlogged table saved (id bigint, keywords text[], rarest text, {area})"


@dataclass(frozen=True, slots=True)
class Schema:
    """How subscriptions are kept and asked for. `box` takes four numbers and gives an area."""

    what: str
    area: str
    box: str
    indexes: tuple[str, ...]
    query: str
    extensions: tuple[str, ...] = ()


GIN = Schema(
    what="PostgreSQL: an array of keywords under GIN, a box; `keywords <@ words and area @> point`",
    area="area box",
    box="box(point(%s, %s), point(%s, %s))",
    indexes=("create index on saved using gin (keywords)",),
    query="select id from saved where keywords <@ %(words)s::text[] "
    "and area @> point(%(lon)s, %(lat)s)",
)
RAREST = Schema(
    what="PostgreSQL: the rarest keyword and the box under GiST (btree_gist), a lookup per word",
    area="area box",
    box="box(point(%s, %s), point(%s, %s))",
    indexes=("create index on saved using gist (rarest, area)",),
    query="select s.id from unnest(%(words)s::text[]) as word join saved s on s.rarest = word "
    "and s.area @> point(%(lon)s, %(lat)s) and s.keywords <@ %(words)s::text[]",
    extensions=("btree_gist",),
)
POSTGIS = Schema(
    what="PostGIS: the rarest keyword and the geometry under GiST (btree_gist), a lookup per word",
    area="area geometry(polygon, 4326)",
    box="st_makeenvelope(%s, %s, %s, %s, 4326)",
    indexes=("create index on saved using gist (rarest, area)",),
    query="select s.id from unnest(%(words)s::text[]) as word join saved s on s.rarest = word and "
    "st_intersects(s.area, st_setsrid(st_point(%(lon)s, %(lat)s), 4326)) "
    "and s.keywords <@ %(words)s::text[]",
    extensions=("btree_gist", "postgis"),
)


class PostgresPeer:
    """A table of subscriptions in a server that is started for the run."""

    def __init__(self, name: str, schema: Schema) -> None:
        self.name = name
        self.what = schema.what
        self._schema = schema

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Start a server, fill the table, ask a prepared query per message."""
        reason = missing()
        if reason:
            raise MissingPeerError(reason, wanted="Debian's package postgresql")
        try:
            import psycopg
        except ImportError:
            what = "psycopg is not installed"
            raise MissingPeerError(what, wanted="pip install nearcast[serve]") from None
        with (
            running_server(SETTINGS) as server,
            psycopg.connect(
                f"{server}postgres", autocommit=True, prepare_threshold=0
            ) as connection,
        ):
            return self._run(connection, workload, repetitions)

    def _run(
        self, connection: psycopg.Connection[Any], workload: PeerWorkload, repetitions: int
    ) -> Found:
        versions = {"postgresql": str(connection.info.parameter_status("server_version"))}
        versions |= self._extend(connection)
        workload.frequencies.total()
        start = perf_counter()
        self._fill(connection, workload)
        built = perf_counter() - start
        query: Any = self._schema.query

        def ask(words: list[str], at: tuple[float, float]) -> list[int]:
            given = {"words": words, "lon": at[0], "lat": at[1]}
            return [row[0] for row in connection.execute(query, given).fetchall()]

        pairs = answers(ask, workload.messages)
        times, cpu = timed(ask, workload.messages, repetitions, _of_the_server)
        size = _one(connection, "select pg_total_relation_size('saved')")
        settings = {"server": " ".join(SETTINGS), "query": self._schema.query}
        held = float(size) / len(workload.subscriptions)
        return Found(times, cpu, pairs, built, held, versions, settings)

    def _extend(self, connection: psycopg.Connection[Any]) -> dict[str, str]:
        found = {}
        for name in self._schema.extensions:
            asked = "select default_version from pg_available_extensions where name = %s"
            version = connection.execute(asked, (name,)).fetchone()
            if version is None:
                what = f"PostgreSQL has no extension {name}"
                package = "postgresql-15-postgis-3" if name == "postgis" else "postgresql-contrib"
                raise MissingPeerError(what, wanted=f"a package such as Debian's {package}")
            connection.execute(f'create extension "{name}"'.encode())
            found[name] = str(version[0])
        return found

    def _fill(self, connection: psycopg.Connection[Any], workload: PeerWorkload) -> None:
        connection.execute(TABLE.format(area=self._schema.area).encode())
        connection.execute(
            "create unlogged table raw (id bigint, keywords text[], rarest text, "
            "w float8, s float8, e float8, n float8)"
        )
        with connection.cursor() as cursor, cursor.copy("copy raw from stdin") as copy:
            for id, keywords, box in workload.subscriptions:
                copy.write_row((id, keywords, workload.rarest(keywords), *box))
        area = self._schema.box.replace("%s", "{}").format("w", "s", "e", "n")
        moved = f"insert into saved select id, keywords, rarest, {area} from raw"
        for statement in (moved, "drop table raw", *self._schema.indexes, "vacuum analyze saved"):
            connection.execute(statement.encode())


def _of_the_server() -> float:
    return descendants_seconds() or 0.0


def _one(connection: psycopg.Connection[Any], query: str) -> Any:  # noqa: ANN401 — whatever it holds
    row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]
