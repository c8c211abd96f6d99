"""`nearcast bench` and `nearcast generate`, end to end and small."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench_calls import Silent, call

from nearcast.bench import checks, contenders, limits, moving, report
from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import (
    ContenderSpec,
    MatcherContender,
    Measurement,
    Memory,
    parse_contender,
)
from nearcast.bench.harness import Plan, run_match
from nearcast.bench.measuring import measure_events
from nearcast.bench.mixed import plan_segments
from nearcast.bench.moving import OPERATIONS
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import Result, Spread
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli import bench, generate
from nearcast.events import Publish, Subscribe, Unsubscribe, read_event
from nearcast.hub import Hub
from nearcast.matcher import Matcher, indexes


@pytest.fixture(scope="module")
def scenario():
    source = PresetSource(find_preset("zipf"), 1)
    return make_scenario(source, find_group("short-point"), 2_000, 300)


# ---- bench ----------------------------------------------------------------------------------


def test_bench_limits_measures_everything_it_names(tmp_path) -> None:
    out = tmp_path / "limits.json"
    sizes = ["--subscriptions", 3_000, "--messages", 200, "--repeat", 1]
    assert call(bench, "bench", "limits", "--preset", "places", *sizes, "--out", out) == 0
    result = json.loads(out.read_text())
    (run,) = result["runs"]
    assert (result["command"], run["source"], run["subscriptions"]) == ("limits", "places", 3_000)
    assert all(value > 0 for value in run.values() if not isinstance(value, str))


def test_bench_events_measures_every_way_of_saying_a_message(tmp_path) -> None:
    out = tmp_path / "events.json"
    sizes = ["--subscriptions", 2_000, "--messages", 300, "--repeat", 1]
    assert call(bench, "bench", "events", *sizes, "--out", out) == 0
    result = json.loads(out.read_text())
    (run,) = result["runs"]
    assert (result["command"], run["messages"], run["subscriptions"]) == ("events", 300, 2_000)
    assert all(spread["median"] > 0 for spread in run["cpu_us"].values())


def test_churn_leaves_what_was_there(scenario) -> None:
    matcher = Matcher(index="auto")
    matcher.subscribe_table(scenario.subscriptions)
    before = matcher.match_table(scenario.messages)
    limits.churn(matcher, scenario)
    after = matcher.match_table(scenario.messages)
    order = [("message", "ascending"), ("subscription", "ascending")]
    assert after.sort_by(order) == before.sort_by(order)
    matcher.check_invariants()


def test_bench_match_writes_all_numbers_as_json(tmp_path, capsys) -> None:
    out = tmp_path / "result.json"
    arguments = ["--preset", "zipf", "places", "--subscriptions", 2_000, "--messages", 200]
    arguments += ["--group", "short-point,varied-range", "--index", "brute-force,keyword-first"]
    arguments += ["--repeat", 3, "--check", 50, "--mixed", 3_000, "--out", out]
    assert call(bench, "bench", "match", *arguments) == 0

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "zipf short-point: 2,000 subscriptions, 200 messages" in captured.err
    result = json.loads(out.read_text())
    assert result["provenance"]["machine"]["cores"] >= 1
    workloads = [(run["workload"]["source"], run["workload"]["group"]) for run in result["runs"]]
    assert workloads == [
        (preset, group)
        for preset in ("zipf", "places")
        for group in ("short-point", "varied-range")
    ]
    for run in result["runs"]:
        brute, keyword = run["contenders"]
        assert (brute["name"], keyword["name"]) == ("brute-force", "keyword-first")
        assert brute["work_per_message"]["matches"] == keyword["work_per_message"]["matches"]
        for contender in run["contenders"]:
            assert len(contender["match"]["mean_us"]["values"]) == 3
            assert (
                0 < contender["match"]["p50_us"]["median"] <= contender["match"]["p99_us"]["high"]
            )
            assert contender["memory"]["bytes_per_subscription"] > 0
            assert contender["mixed"]["operations"] == 3_000
            assert contender["mixed"]["operations_per_second"]["low"] > 0


def test_bench_match_writes_json_to_stdout_and_the_table_to_stderr(capsys) -> None:
    arguments = ["--subscriptions", 100, "--messages", 10, "--index", "keyword-first"]
    assert call(bench, "bench", "match", *arguments) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["runs"][0]["workload"]["source"] == "tweets"
    assert "keyword-first" in captured.err


def test_bench_match_measures_boolean_expressions(capsys) -> None:
    arguments = ["--expressions", "--subscriptions", 500, "--messages", 100, "--mixed", 2_000]
    arguments += ["--index", "auto,keyword-first", "--repeat", 2]
    assert call(bench, "bench", "match", *arguments) == 0
    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["workload"]["source"] == "tweets expressions"
    assert run["workload"]["keywords_per_subscription"] == pytest.approx(5, abs=0.3)
    assert run["contenders"][0]["work_per_message"]["matches"] > 0


def test_bench_match_reads_real_texts(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    texts = [f"Street {i % 9} in Town {i % 4}" for i in range(300)]
    places = {"lon": rng.uniform(5, 15, 300), "lat": rng.uniform(45, 55, 300)}
    pq.write_table(pa.table({"text": texts, **places}), tmp_path / "tweets_geo.parquet")
    arguments = ["--dataset", "tweets_geo", "--data", tmp_path, "--subscriptions", 500]
    assert (
        call(bench, "bench", "match", *arguments, "--messages", 50, "--index", "brute-force") == 0
    )
    run = json.loads(capsys.readouterr().out)["runs"][0]
    assert run["workload"]["tokens_per_message"] == pytest.approx(5, abs=0.3)


@pytest.mark.parametrize("weights", [(), ("--idf",)])
def test_bench_rank_measures_each_alpha_and_threshold(weights, capsys) -> None:
    arguments = ["--preset", "zipf", "--subscriptions", 2_000, "--messages", 100, *weights]
    arguments += ["--alpha", 0.1, 0.5, "--threshold", 0.6, 0.9, "--repeat", 2, "--mixed", 2_000]
    assert call(bench, "bench", "rank", *arguments) == 0
    captured = capsys.readouterr()
    assert "zipf short-point, alpha 0.1, threshold 0.9: 2,000 subscriptions" in captured.err
    result = json.loads(captured.out)
    assert result["command"] == "rank"
    terms = [(run["workload"]["alpha"], run["workload"]["threshold"]) for run in result["runs"]]
    assert terms == [(0.1, 0.6), (0.1, 0.9), (0.5, 0.6), (0.5, 0.9)]
    for run in result["runs"]:
        names = {contender["name"] for contender in run["contenders"]}
        assert {"auto", "keyword-first", "rt++-tree"} <= names
        assert not names & {"brute-force", "ap-tree"}


def test_a_wrong_score_ends_the_run() -> None:
    truth, found = np.array([[0, 7, 500_000_000]]), np.array([[0, 7, 500_000_001]])
    with pytest.raises(WrongAnswerError, match="the scores differ"):
        checks.require_equal("one", found, truth)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "tweet"], "--preset: invalid choice: 'tweet'"),
        (["--group", "tall"], "no message group is called 'tall'"),
        (["--index", "none"], "no index is called 'none'; there are "),
        (["--index", "brute-force:size"], "got 'size', wanted parameter=value"),
        (["--messages", 0], "--messages: got '0', wanted a whole number, 1 or more"),
        (["--subscriptions", 0], "--subscriptions: got '0', wanted a whole number, 1 or"),
        (["--seed", -1], "--seed: got '-1', wanted a whole number, 0 or more"),
        (["--dataset", "tweets_geo", "--data", "/nonexistent"], "no such file"),
        (["--subscriptions", 100, "--mixed", 5_000], "deletes 500 subscriptions, but there are"),
    ],
)
def test_bench_refuses_what_cannot_be_measured(arguments, message, capsys) -> None:
    small = [] if "--messages" in arguments else ["--messages", 10]
    kinds = [] if "--index" in arguments else ["--index", "brute-force"]
    assert call(bench, "bench", "match", *small, *kinds, *arguments) == 2
    assert message in capsys.readouterr().err


class Faulty(MatcherContender):
    """Brute force with one fault."""

    def __init__(self, fault) -> None:
        super().__init__("brute-force", {})
        self._fault = fault

    def match(self, messages):
        return self._fault(super().match(messages))


@pytest.mark.parametrize(
    ("fault", "difference"),
    [
        (lambda pairs: pairs.slice(1), "missing"),
        (lambda pairs: pa.concat_tables([pairs, pairs.slice(0, 1)]), "repeated"),
        (
            lambda pairs: pa.concat_tables(
                [pairs, pa.table([[2], [-5]], schema=pairs.schema)],
            ),
            "surplus",
        ),
    ],
)
def test_a_wrong_answer_ends_the_run(scenario, monkeypatch, fault, difference) -> None:
    monkeypatch.setattr(contenders, "_registered", {"faulty": lambda _: Faulty(fault)})
    progress = Silent()
    with pytest.raises(WrongAnswerError, match=f"faulty gives a wrong answer.*{difference}"):
        run_match(scenario, [parse_contender("faulty")], Plan(checked_messages=100), progress)
    assert progress.steps == ["build faulty", "check against brute force"]


def test_a_wrong_answer_is_a_failure_of_the_command(monkeypatch, capsys) -> None:
    faulty = {"faulty": lambda _: Faulty(lambda pairs: pairs.slice(1))}
    monkeypatch.setattr(contenders, "_registered", faulty)
    arguments = ["--preset", "zipf", "--subscriptions", 2_000, "--messages", 100]
    assert call(bench, "bench", "match", *arguments, "--index", "faulty") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: faulty gives a wrong answer for message")


def test_contenders_that_find_different_numbers_end_the_run() -> None:
    with pytest.raises(WrongAnswerError, match="disagree about the number of matches"):
        checks.require_equal_counts({"a": 1, "b": 2})


class Constant:
    """A contender whose numbers are known."""

    def learn(self, messages) -> None:
        pass

    def subscribe(self, subscriptions) -> None:
        self.count = subscriptions.num_rows

    def unsubscribe(self, ids) -> None:
        pass

    def match(self, messages):
        raise NotImplementedError

    def measure(self, messages):
        nanoseconds = np.full(messages.num_rows, 2_000)
        return Measurement(nanoseconds, 0.0015, messages.num_rows * 3, 0, messages.num_rows * 6)

    def memory(self):
        return Memory(self.count, self.count * 40, self.count * 10, 7)


def test_costs_are_per_message_and_per_subscription(scenario, monkeypatch) -> None:
    monkeypatch.setattr(contenders, "_registered", {"constant": lambda _: Constant()})
    progress, plan = Silent(), Plan(repetitions=2, checked_messages=0)
    run = run_match(scenario, [parse_contender("constant")], plan, progress)
    assert len(progress.steps) == plan.steps(1) == 3
    (found,) = run.contenders
    assert found.match.mean_us == found.match.p99_us == Spread(2.0, 2.0, 2.0, (2.0, 2.0))
    assert found.match.cpu_us.median == pytest.approx(5.0)
    assert found.work_per_message.candidates == 6
    assert found.memory.bytes_per_subscription == 40
    assert found.memory.index_bytes_per_subscription == 10


def test_steps_are_counted_and_contenders_take_turns(scenario) -> None:
    specs = [ContenderSpec("brute-force", {}), ContenderSpec("keyword-first", {})]
    plan = Plan(repetitions=2, checked_messages=10, mixed_operations=2_000)
    progress = Silent()
    run_match(scenario, specs, plan, progress)
    assert len(progress.steps) == plan.steps(2)
    assert [step for step in progress.steps if step.startswith("match")] == [
        "match brute-force",
        "match keyword-first",
        "match keyword-first",
        "match brute-force",
    ]


def test_mixed_load_has_eight_messages_for_one_insert_and_one_delete(scenario) -> None:
    segments = plan_segments(scenario, 4_000, 2)
    assert [len(segment) for segment in segments] == [2, 2]
    batches = [batch for segment in segments for batch in segment]
    assert {batch.messages.num_rows for batch in batches} == {800}
    inserted = np.concatenate([batch.inserts.column("id").to_numpy() for batch in batches])
    deleted = np.concatenate([batch.deletes for batch in batches])
    assert inserted.tolist() == list(range(2_000, 2_400))
    assert len(set(deleted.tolist())) == 400
    assert deleted.max() < 2_000


def test_report_divides_by_the_baseline(scenario, monkeypatch) -> None:
    monkeypatch.setattr(contenders, "_registered", {"constant": lambda _: Constant()})
    plan = Plan(repetitions=1, checked_messages=0)
    run = run_match(scenario, [parse_contender("constant")], plan, Silent())
    result = Result(find_provenance(), 1, (run,))
    (with_baseline,) = report.tables(result, "constant")
    (without,) = report.tables(result, "absent")
    assert "1×" in [cell for column in with_baseline.columns for cell in column.cells]
    assert with_baseline.caption == "faster: than constant, by processor time"
    assert without.caption is None


def test_contender_names_carry_parameters() -> None:
    spec = parse_contender("ap-tree:max_children=200:share=0.5:learn=true:order=idf")
    assert spec.parameters == {"max_children": 200, "share": 0.5, "learn": True, "order": "idf"}
    assert parse_contender(spec.name.replace("True", "true")) == spec


# ---- generate -------------------------------------------------------------------------------


def read_lines(text):
    return [read_event(line) for line in text.splitlines()]


@pytest.mark.parametrize("options", [[], ["--group", "medium-range"], ["--preset", "places"]])
def test_generated_messages_are_events(options, capsys) -> None:
    assert call(generate, "generate", "messages", "--count", 20, *options) == 0
    events = read_lines(capsys.readouterr().out)
    assert [event.id for event in events] == [f"m{i}" for i in range(20)]
    assert all(isinstance(event, Publish) for event in events)


@pytest.mark.parametrize("options", [[], ["--expressions"]])
def test_generated_subscriptions_are_events(options, capsys) -> None:
    assert call(generate, "generate", "subscriptions", "--count", 20, "--first", 5, *options) == 0
    events = read_lines(capsys.readouterr().out)
    assert [event.id for event in events] == [f"s{i}" for i in range(5, 25)]
    assert all(isinstance(event, Subscribe) for event in events)


def test_generated_logs_only_unsubscribe_whoever_is_there(tmp_path) -> None:
    out = tmp_path / "log.ndjson"
    arguments = ["--count", 2_000, "--subscriptions", 5, "--out", out]
    assert call(generate, "generate", "events", *arguments) == 0
    events = read_lines(out.read_text())
    present = set()
    for event in events:
        if isinstance(event, Subscribe):
            assert event.id not in present
            present.add(event.id)
        elif isinstance(event, Unsubscribe):
            present.remove(event.id)
    assert [event.time for event in events] == list(range(len(events)))
    assert sum(isinstance(event, Publish) for event in events) == pytest.approx(1_600, rel=0.05)
    again = tmp_path / "again.ndjson"
    assert call(generate, "generate", "events", *arguments[:-1], again) == 0
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("what", ["messages", "subscriptions"])
def test_generated_parquet_is_the_table_of_the_generator(what, tmp_path) -> None:
    out = tmp_path / "table.parquet"
    arguments = ["--count", 30, "--seed", 4, "--format", "parquet", "--out", out]
    assert call(generate, "generate", what, *arguments) == 0
    source = PresetSource(find_preset("tweets"), 4)
    made = (
        source.messages(30, find_group("short-point"))
        if what == "messages"
        else source.subscriptions(30)
    )
    assert pq.read_table(out).to_pylist() == made.to_pylist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["messages", "--count", -1], "--count: got '-1', wanted a whole number, 0 or more"),
        (["messages", "--format", "parquet"], "needs --out FILE"),
        (["events", "--format", "parquet", "--out", "x"], "events have no table"),
    ],
)
def test_generate_refuses_what_it_cannot_write(arguments, message, capsys) -> None:
    assert call(generate, "generate", *arguments) == 2
    assert message in capsys.readouterr().err


def test_bench_moving_measures_every_operation_of_every_kind(tmp_path, capsys) -> None:
    out = tmp_path / "moving.json"
    arguments = ["--objects", 300, "--messages", 200, "--moves", 100, "--publishes", 20]
    arguments += ["--repeat", 2, "--area-share", 0.01, "--out", out]
    assert call(bench, "bench", "moving", *arguments) == 0
    assert "publish, not kept" in capsys.readouterr().err
    result = json.loads(out.read_text())
    (run,) = result["runs"]
    names = [contender["name"] for contender in run["contenders"]]
    made_for_it = [kind.name for kind in indexes() if "moving" in kind.capabilities]
    assert names == ["auto", *made_for_it]
    for contender in run["contenders"]:
        assert contender["bytes_per_message"] > 0
        assert set(contender["operations"]) == set(OPERATIONS)
        for cost in contender["operations"].values():
            assert 0 < cost["p50_us"] <= cost["p99_us"] <= cost["p999_us"] <= cost["worst_us"]
            assert len(cost["cpu_us"]["values"]) == 2
    changes = {c["operations"]["move"]["changes"] for c in run["contenders"]}
    assert len(changes) == 1
    assert changes.pop() > 0


def forgetful(hub, records):
    """Lose a change of the second hub."""
    changes, *times = measure_events(hub, records)
    return (changes.slice(1) if isinstance(hub, Forgetful) else changes), *times


class Forgetful(Hub):
    """The hub whose changes get lost."""


def test_bench_moving_refuses_contenders_that_disagree(monkeypatch, capsys) -> None:
    hubs = iter([Hub, Forgetful])
    monkeypatch.setattr(moving, "Hub", lambda **kinds: next(hubs)(**kinds))
    monkeypatch.setattr(moving, "measure_events", forgetful)
    arguments = ["--objects", 300, "--messages", 200, "--index", "auto"]
    assert call(bench, "bench", "moving", *arguments) == 1
    assert "auto and brute-force disagree" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--moves", 0], "wanted a whole number, 1 or more"),
        (["--index", "none"], "no index is called 'none'"),
        (["--nodes", "n.csv"], "--nodes and --edges belong together"),
        (["--area-share", -1], "--area-share"),
    ],
)
def test_bench_moving_refuses_what_cannot_be(arguments, complaint, capsys) -> None:
    assert call(bench, "bench", "moving", *arguments) == 2
    assert complaint in capsys.readouterr().err
