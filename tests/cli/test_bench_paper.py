"""`nearcast bench paper`, `growth` and `report`, end to end and tiny."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from bench_calls import call

from nearcast.bench.paper import running
from nearcast.bench.paper.kinds.study import Lab, label, points_of
from nearcast.bench.paper.pages import markdown, read_entries
from nearcast.bench.paper.registry import EXPERIMENTS, find_experiments
from nearcast.bench.paper.scales import GROWTH_SCALE, SCALES
from nearcast.bench.paper.sources import Shelf
from nearcast.cli import bench

WANTED = (
    *("P0-T1", *(f"P0-{n}" for n in range(7, 12))),
    *("P1-T1", *(f"P1-{n}" for n in range(7, 15))),
    *(f"P2-{n}" for n in range(10, 28)),
    *("P4-T4", "P4-T5", *(f"P4-{n}" for n in range(10, 27))),
)


@pytest.fixture(autouse=True)
def without_real_data(monkeypatch):
    monkeypatch.delenv("NEARCAST_DATA", raising=False)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All experiments of the papers at a size for tests, run once."""
    out = tmp_path_factory.mktemp("results") / "tiny.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NEARCAST_DATA", raising=False)
        assert call(bench, "bench", "paper", "--scale", "tiny", "--out", out) == 0
    return out


def test_every_figure_and_table_of_the_papers_has_an_entry() -> None:
    assert sorted(e.name for e in find_experiments(None)) == sorted(WANTED)
    for experiment in EXPERIMENTS.values():
        assert experiment.claim.endswith(".")
        assert experiment.claims
        titles = [plot.title for plot in experiment.plots]
        assert len(titles) == len(set(titles))


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS.keys())
def test_statements_name_contenders_and_panels_that_there_are(experiment) -> None:
    letters = {plot.title.partition(":")[0] for plot in experiment.plots}
    lines = {label(name) for plot in experiment.plots for name in plot.study.contenders}
    for claim in experiment.claims:
        assert set(getattr(claim, "on", "")) <= letters
        named = [getattr(claim, field, None) for field in ("name", "other", "low", "high")]
        if hasattr(claim, "panel"):
            assert {claim.panel, claim.other} <= letters
            named.remove(claim.other)
        assert {name for name in named if name} <= lines
        assert set(getattr(claim, "names", ())) <= lines
        assert set(getattr(claim, "others", ())) <= lines


@pytest.mark.slow
def test_every_experiment_runs_and_has_all_its_numbers(results) -> None:
    found = {outcome.name: outcome for outcome in running.read_outcomes(results)}
    assert sorted(found) == sorted(WANTED)
    for name, outcome in found.items():
        assert outcome.panels, name
        for panel in outcome.panels:
            for line in panel.lines:
                assert len(line.values) == len(panel.xs)
                assert None not in line.values, (name, panel.title, line.name)
        assert running.verdict_of(EXPERIMENTS[name], outcome).word


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "r.jsonl"
    figures = ["P4-T5", "P0-T1"]
    arguments = ("bench", "paper", "--scale", "tiny", "--out", out, "--figure")
    assert call(bench, *arguments, "P0-T1") == 0
    with out.open("a") as file:
        file.write('{"name":"P4-T5","scale":"tiny","ide')  # as a run that was killed leaves it
    begun = []
    whole = running.run_experiment

    def told(experiment, *rest):
        begun.append(experiment.name)
        return whole(experiment, *rest)

    monkeypatch.setattr(running, "run_experiment", told)
    capsys.readouterr()
    assert call(bench, *arguments, *figures) == 0
    assert begun == ["P4-T5"]
    assert "known" in capsys.readouterr().err
    assert [outcome.name for outcome in running.read_outcomes(out)] == ["P0-T1", "P4-T5"]
    assert call(bench, *arguments, *figures) == 0
    assert begun == ["P4-T5"]
    assert call(bench, *arguments, "P0-T1", "--seed", 2) == 0
    assert begun == ["P4-T5", "P0-T1"]  # with another seed it is another run


def test_names_are_papers_figures_or_tables(capsys) -> None:
    assert call(bench, "bench", "paper", "--list", "--figure", "p0", "P4-t5") == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [*WANTED[:6], "P4-T5"]
    with pytest.raises(ValueError, match="no experiment has this name: got 'P9'"):
        call(bench, "bench", "paper", "--figure", "P9")


def test_sizes_are_the_papers_divided_and_cut_by_what_is_asked() -> None:
    lab = Lab(SCALES["small"], Shelf(), lambda _: None)
    study = EXPERIMENTS["P0-11"].plots[0].study
    assert [x for x, _ in points_of(study, lab)] == [4_000, 8_000, 12_000, 16_000, 20_000]
    grown = Lab(GROWTH_SCALE, Shelf(), lambda _: None, largest=50_000)
    study = EXPERIMENTS["G-1"].plots[0].study
    assert [x for x, _ in points_of(study, grown)] == [10_000, 30_000, 50_000]


def test_growth_is_measured_up_to_what_is_asked(tmp_path, capsys) -> None:
    out = tmp_path / "growth.jsonl"
    arguments = ("--most", 400, "--figure", "G-1", "G-4", "G-6", "--out", out)
    assert call(bench, "bench", "growth", *arguments) == 0
    names = [json.loads(line)["name"] for line in out.read_text().splitlines()]
    assert names == ["G-1", "G-4", "G-6"]


def test_the_report_has_all_claims_with_verdicts_and_plots(results, tmp_path) -> None:
    some = ("P0-T1", "P1-12", "P2-10", "P4-T4", "P4-26")  # a plot takes half a second
    lines = results.read_text().splitlines(keepends=True)
    chosen = [line for line in lines if json.loads(line)["name"] in some]
    (tmp_path / "some.jsonl").write_text("".join(chosen))
    out = tmp_path / "page"
    assert call(bench, "bench", "report", "--results", tmp_path, "--out", out) == 0
    page, web = (out / "README.md").read_text(), (out / "index.html").read_text()
    for name in some:
        experiment = EXPERIMENTS[name]
        assert f"### {name} {experiment.figure}: {experiment.title}" in page
        assert f"| {experiment.claim} |" in page
        svg = (out / "figures" / f"{name}.svg").read_text()
        ElementTree.fromstring(svg)
        assert f"{experiment.paper} {experiment.figure}: {experiment.title}" in svg
        assert len(svg) < 60_000
        assert f'id="{name}"' in web
    assert web.count("<svg") == len(some)
    page = markdown(read_entries(results.parent))
    rows = re.findall(r"^\| \[P\S+\]\(#\S+\) \| .* \| [✓◐✗] (.*) \|$", page, re.M)
    assert len(rows) == len(WANTED)
    assert set(rows) <= {"holds", "holds in part", "does not hold here"}
    outside = re.findall(
        r'(?:src|href)="(?!#)([^"]*)"', re.sub(r"<svg.*?</svg>", "", web, flags=re.S)
    )
    assert outside == []  # nothing is fetched


def test_a_report_of_nothing_is_refused(tmp_path) -> None:
    with pytest.raises(Exception, match="no results are there"):
        call(bench, "bench", "report", "--results", tmp_path)
