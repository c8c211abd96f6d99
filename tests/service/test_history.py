"""The last half hour of the metrics is kept, and no more."""

from __future__ import annotations

import pytest
from service.harness import running, wait_for

from nearcast.service.history import KEPT, History
from nearcast.service.metrics import Metrics


def test_samples_have_counters_by_name_and_by_label():
    metrics = Metrics()
    metrics.events.inc(3)
    metrics.requests.labels("2xx").inc(5)
    metrics.requests.labels("5xx").inc(1)
    history = History(metrics)
    history.note(10.0)
    values = history.after(0.0)[0]["values"]
    assert values["nearcast_events_total"] == 3
    assert values["nearcast_http_requests_total"] == 6
    assert values["nearcast_http_requests_total/5xx"] == 1
    assert not [name for name in values if "_bucket" in name]


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_the_oldest_sample_goes(extra):
    history = History(Metrics())
    for second in range(KEPT + extra):
        history.note(float(second))
    kept = history.after(-1.0)
    assert len(kept) == min(KEPT, KEPT + extra)
    assert kept[0]["at"] == max(0, extra)
    assert [sample["at"] for sample in history.after(KEPT + extra - 2.0)] == [KEPT + extra - 1.0]


def test_the_service_answers_with_what_is_new(tmp_path):
    with running(f"sqlite:///{tmp_path}/history.db") as service:
        samples = wait_for(lambda: service.get("/v1/history")["samples"])
        assert "nearcast_subscriptions" in samples[0]["values"]
        later = service.get("/v1/history", params={"after": int(samples[-1]["at"]) + 1_000})
        assert later["samples"] == []
