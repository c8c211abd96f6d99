"""Settings, health, metrics, backup, TLS, and an OpenAPI document that holds."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest
from service.harness import running

from nearcast import InvalidParameterError
from nearcast.cli.__main__ import main
from nearcast.service.backup import backup, restore
from nearcast.service.settings import read_settings
from nearcast.service.store import StoreError


def test_settings_come_from_file_environment_and_options(tmp_path) -> None:
    file = tmp_path / "nearcast.toml"
    file.write_text('listen = "127.0.0.1:1"\n[hub]\nwindow_count = 5\n[limits]\ncorners = 9\n')
    found = read_settings(
        file, {"NEARCAST_HUB__WINDOW_COUNT": "7", "PATH": "x"}, listen="127.0.0.1:2"
    )
    assert (found.listen, found.hub.window_count, found.limits.corners) == ("127.0.0.1:2", 7, 9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"listen": "nonsense"},
        {"database": "mysql://x"},
        {"synchronous": "maybe"},
        {"limits": {"unknown": 1}},
        {"limits": {"corners": -1}},
        {"hub": {"window_count": 1, "window_seconds": 1.0}},
        {"tls": {"certificate": "x"}},
        {"webhooks": {"allow": ["nonsense"]}},
        {"secret_key": "short"},
    ],
)
def test_wrong_settings_are_refused(wrong) -> None:
    with pytest.raises(InvalidParameterError):
        read_settings(None, {}, **wrong)


def test_config_check_shows_settings_without_secrets(capsys, monkeypatch) -> None:
    monkeypatch.setenv("NEARCAST_ADMIN_KEY", "hush-hush")
    monkeypatch.setenv("NEARCAST_SECRET_KEY", "hush-" * 10)
    assert main(["config", "check", "--database", "postgresql://me:secret@host/db"]) == 0
    shown = capsys.readouterr().out
    assert "me:secret" not in shown
    assert "hush" not in shown
    assert "window_count" in shown
    monkeypatch.setenv("NEARCAST_LIMITS__NONSENSE", "1")
    assert main(["config", "check"]) == 1
    assert "NONSENSE" in capsys.readouterr().err


def test_health_and_metrics(sqlite) -> None:
    with running(sqlite) as service:
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        assert service.get("/healthz")["status"] == "ok"
        assert service.get("/readyz")["status"] == "ready"
        text = service.client.get("/metrics").text
        for name in (
            "nearcast_match_seconds_bucket",
            "nearcast_commit_seconds_sum",
            "nearcast_outbox_age_seconds",
            "nearcast_webhook_retries_total",
            "nearcast_slow_readers_total",
            "nearcast_waiting_events",
            "nearcast_resident_bytes",
        ):
            assert name in text, name
        assert "nearcast_changes_total 1.0" in text
        assert "nearcast_subscriptions 1.0" in text


def test_a_backup_while_running_restores_to_either_database(database, tmp_path) -> None:
    with running(database) as service:
        service.subscribe("s1", keywords="coffee", metadata={"a": 1})
        service.publish("m1")
        assert backup(database, tmp_path / "copy") > 3
        service.publish("m2")
        with pytest.raises(StoreError):
            backup(database, tmp_path / "copy")
    with pytest.raises(StoreError):
        restore(tmp_path / "copy", database)
    restored = f"sqlite:///{tmp_path}/restored.db"
    restore(tmp_path / "copy", restored)
    with running(restored) as service:
        assert [one["message"] for one in service.deliveries()] == ["m1"]
        assert service.get("/v1/subscriptions/s1")["metadata"] == {"a": 1}
        service.publish("m3")
        assert [one["number"] for one in service.deliveries()] == [1, 2]


def test_the_backup_command(sqlite, tmp_path, capsys) -> None:
    with running(sqlite) as service:
        service.subscribe("s1", keywords="coffee")
        assert main(["backup", "--database", sqlite, str(tmp_path / "copy")]) == 0
    assert (
        main(["restore", "--database", f"sqlite:///{tmp_path}/new.db", str(tmp_path / "copy")]) == 0
    )
    assert "rows" in capsys.readouterr().err


def test_hub_settings_cannot_change_under_a_database(database) -> None:
    with running(database, hub={"window_count": 5}):
        pass
    with pytest.raises(InvalidParameterError, match="hub settings"), running(database):
        pass


def stored_hub(service):
    return json.loads(service.service.store.meta()["hub"])


def test_a_database_from_before_a_hub_setting_is_opened(database) -> None:
    with running(database, hub={"window_count": 5}) as service:
        assert stored_hub(service)["version"] == 1
        old = {"window_count": 5, "space": [-180, -90, 180, 90]}  # no version, few settings
        service.service.store.set_meta(hub=json.dumps(old))
        service.publish("m1")
    with running(database, hub={"window_count": 5}) as service:
        assert service.get("/v1/messages/m1")["id"] == "m1"
        assert "safe_region" in stored_hub(service)


@pytest.mark.parametrize("more", [{"version": 2}, {"unheard_of": 1}])
def test_a_database_of_a_later_version_is_refused(sqlite, more) -> None:
    with running(sqlite) as service:
        service.service.store.set_meta(hub=json.dumps({**stored_hub(service), **more}))
    with pytest.raises(InvalidParameterError, match="later version"), running(sqlite):
        pass


def test_tls(sqlite, tmp_path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run(
            [*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("openssl is not on this machine")
    tls = {"certificate": str(certificate), "key": str(key)}
    with running(sqlite, tls=tls) as service:
        import ssl

        trust = ssl.create_default_context(cafile=str(certificate))
        with httpx.Client(verify=trust) as client:
            answer = client.get(service.url.replace("http:", "https:") + "/healthz")
        assert answer.status_code == 200
        assert "strict-transport-security" in answer.headers


def test_the_openapi_document_is_served(sqlite) -> None:
    with running(sqlite) as service:
        found = service.get("/openapi.json")
    assert found["openapi"] == "3.1.0"
    operations = [one for path in found["paths"].values() for one in path.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    named = json.dumps(found["paths"])
    for schema in found["components"]["schemas"]:
        text = named + json.dumps(found["components"]["schemas"])
        assert f"schemas/{schema}" in text, schema


@pytest.mark.slow
def test_schemathesis_finds_no_5xx(sqlite) -> None:
    import os

    import hypothesis
    import schemathesis

    with running(sqlite) as service:
        schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
        examples = int(os.environ.get("NEARCAST_EXAMPLES", "8"))
        settings = hypothesis.settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        for result in schema.get_all_operations():
            operation = result.ok()  # type: ignore[union-attr]
            if "text/event-stream" in json.dumps(operation.definition.raw):
                continue

            @settings
            @hypothesis.given(case=operation.as_strategy())
            def probe(case) -> None:
                answer = case.call(timeout=60)
                assert answer.status_code < 500, (case, answer.text)

            probe()
