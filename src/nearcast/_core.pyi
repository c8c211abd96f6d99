"""
The per-message inner loop of nearcast. Not for direct use: see nearcast.Matcher and Hub.
"""

from collections.abc import Mapping


class ParameterSpec:
    """A parameter of an index kind."""

    @property
    def name(self) -> str: ...

    @property
    def default(self) -> bool | float | str: ...

    @property
    def meaning(self) -> str: ...

    @property
    def minimum(self) -> float: ...

    @property
    def maximum(self) -> float: ...

    @property
    def choices(self) -> list[str]: ...

    @property
    def is_whole(self) -> bool: ...

class IndexKind:
    """
    An index kind: name, summary, parameters, capabilities; for `auto` also the name of the kind that it stands for, otherwise an empty string.
    """

    @property
    def name(self) -> str: ...

    @property
    def stands_for(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def parameters(self) -> list[ParameterSpec]: ...

    @property
    def capabilities(self) -> list[str]: ...

def index_kinds() -> list[IndexKind]:
    """All index kinds."""

class ArrivalKind:
    """
    How messages find the top lists they enter: name, summary, the expiry it is combined with unless another is named.
    """

    @property
    def name(self) -> str: ...

    @property
    def stands_for(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def expiry(self) -> str: ...

class ExpiryKind:
    """What top lists keep beyond their k best: name, summary."""

    @property
    def name(self) -> str: ...

    @property
    def stands_for(self) -> str: ...

    @property
    def summary(self) -> str: ...

def arrival_kinds() -> list[ArrivalKind]:
    """All kinds of top-k arrival."""

def expiry_kinds() -> list[ExpiryKind]:
    """All kinds of top-k expiry."""

def top_parameters() -> list[ParameterSpec]:
    """Parameters of the top kinds."""

def build_info() -> dict[str, str]:
    """How this extension was built."""

class MessageBatch:
    """One batch of messages, read and checked."""

    @property
    def rows(self) -> int: ...

    @property
    def has_texts(self) -> bool:
        """Whether the messages are texts, not tokens."""

    def texts(self) -> list:
        """All texts."""

    def texts_beyond_ascii(self) -> list:
        """The texts that Python must analyse."""

    def put_texts(self, texts: object) -> None:
        """Put analysed texts in the place of those beyond ASCII."""

    def put_tokens(self, tokens: object) -> None:
        """Put the tokens of each text in the place of all texts."""

    def attribute_texts(self) -> list:
        """
        Attributes that Python must read, None where there are none; empty: they are read.
        """

    def put_attributes(self, attributes: object) -> None:
        """Put a dict, or None, for each row in the place of the texts."""

class MessageStream:
    """The batches of a table of messages."""

    def __init__(self, table: object | None) -> None: ...

    def next(self) -> MessageBatch | None:
        """The next batch; None: there are no more."""

class TokenCache:
    """The tokens of the last dictionary, for batches that share it."""

    def __init__(self) -> None: ...

class SubscriptionBatch:
    """A table of subscriptions, of one batch."""

    def __init__(self, table: object | None) -> None: ...

    def expressions(self) -> list:
        """The distinct texts of keywords: (first row, text)."""

    def wheres(self) -> list:
        """The distinct texts of where: (first row, text)."""

    def put_expressions(self, made: object) -> None:
        """
        For each a list of words or an expression, and whether it needs no word.
        """

    def put_wheres(self, made: object) -> None:
        """For each an expression."""

class Records:
    """An answer: a record batch for any Arrow library."""

    @property
    def rows(self) -> int: ...

    def __arrow_c_schema__(self) -> object: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple:
        """(schema, array); another schema than its own is not made."""

class Answer:
    """Rows that may be more than one record batch holds."""

    def batches(self, max_string_bytes: int) -> list[Records]:
        """Its record batches, each with at most so many bytes of strings."""

class EventBatch:
    """Events on their way into the core, in order."""

    def __init__(self, kinds: object, may_split: bool) -> None: ...

    def __len__(self) -> int: ...

    def add_read(self, values: object, first: object) -> list:
        """
        Add rows for structs, numbered from first on: [(position, row)] of those not taken.
        """

    def add(self, number: object) -> int:
        """Add a row that is left out until it is put."""

    def add_table(self, table: object, first: object, is_outline: bool) -> list:
        """Add the rows of an Arrow table: those that were not taken."""

    def put_message(self, row: object, id: object, text: object, place: object, time: object | None, expires: object | None, attributes: object | None, replaces: object) -> None: ...

    def put_record(self, row: object, record: object) -> None:
        """Put an event as records.py makes it."""

    def put_outline(self, row: object, op: object, id: object, times: object, replaces: object, mode: object, target: object, live: object, place: object | None, line: object | None) -> None:
        """Put what life looks at, and the line that has the rest."""

    def put_words(self, row: object, words: object) -> None:
        """Put the words of a text, None for one that was left out."""

    def put_attributes(self, row: object, attributes: object | None) -> None: ...

    def put_attribute_text(self, row: object, text: object) -> None: ...

    def put_time(self, row: object, time: object) -> None: ...

    def leave_out(self, row: object) -> None: ...

    def cut(self, rows: object) -> None:
        """Keep the first rows only."""

    def texts(self, are_all: bool) -> list:
        """[(row, text)] of messages to analyse: all, or those beyond ASCII."""

    def attribute_texts(self) -> list:
        """[(row, JSON)] of messages whose attributes are to be read."""

    def untimed(self) -> list:
        """Rows of events that have no time."""

    def line(self, row: object) -> object:
        """The whole event, where the row has not all of it."""

    def number(self, row: object) -> int: ...

    def first_lasting(self) -> object:
        """
        The first subscription, of those that the core has read, that is live or top: (id, which of the two), or None.
        """

    def columns(self) -> Answer:
        """All rows but those left out."""

class Matcher:
    """One index with its words, subscriptions and ids."""

    def __init__(self, index: str, parameters: Mapping[str, bool | float | str]) -> None: ...

    def subscribe(self, id: object, keywords: object | None, area: object | None, where: object | None = None, excluded: object | None = None, replaces: object = False) -> None:
        """
        Keywords are a list of words, or an expression as bindings/expressions.h says.
        """

    def subscribe_rows(self, table: SubscriptionBatch) -> None:
        """Subscribe all rows, or none."""

    def unsubscribe(self, id: object) -> None: ...

    def unsubscribe_rows(self, ids: object) -> None: ...

    def has(self, id: object) -> bool: ...

    def match(self, messages: MessageBatch, cache: TokenCache, first_row: int) -> Answer:
        """Match a batch: message (row, counted from first_row) and subscription."""

    def measure(self, messages: MessageBatch, cache: TokenCache) -> tuple:
        """Match a batch: (work, nanoseconds, cpu seconds)."""

    def floor(self, messages: MessageBatch, cache: TokenCache, ends: object, answers: object) -> tuple:
        """
        Touch the lists of each message and copy a known answer: (work, nanoseconds, cpu seconds).
        """

    def match_one(self, words: object, place: object, attributes: object | None = None) -> list:
        """Match one message: ids."""

    def match_plain(self, message: object | None, at: object | None, may_split: bool) -> object:
        """
        match_one for a list of words, or a text in ASCII if it may be split, and a tuple of two floats; None if it got another thing.
        """

    def learn(self, messages: MessageBatch) -> None: ...

    def stats(self) -> dict: ...

    def check_invariants(self) -> None: ...

    @property
    def index_name(self) -> str: ...

    def save(self, path: str, analyzer: str) -> None: ...

class RankMatcher:
    """Rank subscriptions behind one index."""

    def __init__(self, index: str, parameters: Mapping[str, bool | float | str]) -> None: ...

    def subscribe(self, id: object, words: object, area: object, alpha: float, threshold: float, where: object | None = None, replaces: object = False) -> None: ...

    def subscribe_rows(self, table: SubscriptionBatch) -> None:
        """Subscribe all rows, or none."""

    def unsubscribe(self, id: object) -> None: ...

    def unsubscribe_rows(self, ids: object) -> None: ...

    def has(self, id: object) -> bool: ...

    def start_epoch(self, documents: int, df: object) -> None:
        """Weigh by these numbers of documents from now on."""

    def end_epoch(self) -> None:
        """Every token counts 1 from now on."""

    def rank(self, messages: MessageBatch, cache: TokenCache, first_row: int) -> Answer:
        """
        Rank a batch: message (row, counted from first_row), subscription and score.
        """

    def measure(self, messages: MessageBatch, cache: TokenCache) -> tuple:
        """Rank a batch: (work, nanoseconds, cpu seconds)."""

    def rank_one(self, words: object, place: object, attributes: object | None = None) -> tuple:
        """Rank one message: (ids, scores)."""

    def score_pair(self, id: object, words: object, place: object) -> float: ...

    def stats(self) -> dict: ...

    def check_invariants(self) -> None: ...

    @property
    def index_name(self) -> str: ...

    def save(self, path: str, analyzer: str) -> None: ...

def open_snapshot(path: str, verify: object | None) -> tuple[Matcher | RankMatcher | Hub | Ledger, str]:
    """
    What was saved in a file: a matcher, a hub or life alone; and what the analyzer was.
    """

class Hub:
    """Events in, signed changes out."""

    def __init__(self, index: str, parameters: Mapping[str, bool | float | str], window_count: int | None, window_seconds: float | None, space: tuple, arrival: str, expiry: str, top_parameters: Mapping[str, bool | float | str], is_safe: bool) -> None: ...

    def apply(self, events: EventBatch, stops_at_error: bool) -> tuple:
        """
        Apply a batch of events, which is closed then: (changes, promises, rejected); promises are (event row, subscription, distance), rejected (event row, error).
        """

    def apply_one(self, event: object) -> tuple:
        """
        Apply one event or raise: ([(subscription, message, kind, reason, score)], promises).
        """

    def publish_plain(self, id: object | None, text: object | None, at: object | None, time: object | None, expires: object | None, replaces: object | None) -> object:
        """
        apply_one for a message in ASCII at a tuple of two floats, its text split here; None if it got another thing.
        """

    def measure(self, events: list) -> tuple:
        """
        Apply a batch: (what apply returns, nanoseconds per event, processor seconds).
        """

    def start_epoch(self, documents: int, df: object) -> tuple:
        """Weigh words by their df from now on: changes, as from apply."""

    def end_epoch(self) -> tuple:
        """Every word counts the same from now on: changes, as from apply."""

    def match(self, words: object, place: object, attributes: object | None = None) -> list:
        """The ids of the subscriptions that a message would reach now."""

    def match_plain(self, message: object | None, at: object | None, may_split: bool) -> object:
        """
        match for a list of words, or a text in ASCII if it may be split, and a tuple of two floats; None if it got another thing.
        """

    def mode_of(self, subscription: str) -> int | None:
        """0 match, 1 rank, 2 top; None: there is none."""

    def definition(self, subscription: str) -> tuple:
        """
        What was subscribed: (words, area, (mode, live, k, alpha, threshold, at, expires), excluded area, what was said).
        """

    def definitions(self, first: object, count: object) -> tuple:
        """
        What was subscribed, by slot, at most so many slots from the first on: ([(id, what definition returns)], where to go on or None).
        """

    def judge(self, subscription: str, words: object, place: object, attributes: object | None = None) -> tuple:
        """
        (what definition returns, does the message match, does its place touch the area, None or the score: (of space, of text, all together, what it must reach or None), does its place touch the excluded area).
        """

    def results(self, subscription: str) -> list[tuple[str, float | None]]:
        """
        What it holds: (message, score or None); of a top subscription the best first.
        """

    @property
    def stats(self) -> dict:
        """
        Sizes of all modes, and of the live messages; bytes by part, and all together.
        """

    @property
    def top_stats(self) -> dict:
        """Sizes and work of the top lists; empty: there was no top subscription."""

    def safe_distance(self, subscription: str) -> float | None:
        """
        How far it may go before its result can change; None: it was not promised anything.
        """

    @property
    def safe_regions(self) -> int:
        """How many subscriptions were promised one."""

    def __len__(self) -> int: ...

    def is_live(self, message: str) -> bool: ...

    @property
    def clock(self) -> float: ...

    @property
    def window(self) -> tuple[int | None, float | None]:
        """(count, seconds); None: not limited by it."""

    @property
    def index(self) -> str:
        """Name of the index kind."""

    def check_invariants(self) -> None: ...

    def set_slice(self, messages: int) -> None:
        """
        How many messages that wait an index takes in after each event. For tests.
        """

    def save(self, path: str, analyzer: str) -> None: ...

class Ledger:
    """Which events happen, and what goes because of them; without matching."""

    def __init__(self, window_count: int | None, window_seconds: float | None, width: object) -> None: ...

    def apply(self, events: EventBatch, places: object) -> tuple:
        """
        Apply a batch of events, which is closed then: (rejected rows with their errors, the clock after each row, whether each row publishes a message that lives, when that message goes by itself, and what went: row, id, is_message, is_expired; then, in bytes that say who holds what, of each row who is told of it and who had what it moves or replaces, and of each departure who had it).
        """

    def mode_of(self, subscription: str) -> int | None:
        """0 match, 1 rank, 2 top; None: there is none."""

    def is_live(self, message: str) -> bool: ...

    @property
    def width(self) -> int: ...

    @property
    def clock(self) -> float: ...

    def save(self, path: str) -> None: ...

class TopStream:
    """Top lists over the newest messages: columns in, times out."""

    def __init__(self, window: int, space: tuple, arrival: str, expiry: str, parameters: Mapping[str, bool | float | str]) -> None: ...

    def start_epoch(self, documents: int, df: object) -> None:
        """Weigh tokens by their df, which is by token; before all else."""

    def subscribe(self, rows: tuple, alpha: object, k: int) -> None:
        """Rows are (offsets, tokens, lon, lat)."""

    def adopt(self, other: TopStream) -> None:
        """
        Take subscriptions and lists of a stream of the same messages and kind of expiry.
        """

    def publish(self, messages: tuple) -> tuple:
        """
        (offsets, tokens, lon, lat) in; (arrival ns, expiry ns or -1, number of changes).
        """

    def results(self, subscriptions: object) -> tuple:
        """What they hold, best first: (ends, messages, scores)."""

    def look_at_all(self, rows: tuple, alpha: object, k: int) -> tuple:
        """What such subscriptions would hold, by brute force."""

    @property
    def stats(self) -> dict: ...

    def check_invariants(self) -> None: ...

def change_steps() -> int:
    """
    Stored elements that changes on this thread have looked at or moved. For tests.
    """

def set_list_limit(elements: int) -> int:
    """
    How many elements the lists of one structure may have; returns what it was. For tests.
    """
