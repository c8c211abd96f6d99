"""`nearcast serve`, `deliver`, `backup`, `restore`, `config`, `keys`: for operators."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    import argparse

    from nearcast.service.settings import Settings


DEMO_HUB = {"window_count": 20_000, "safe_region": True}
DEMO_PAGE = {"center": (-73.95, 40.7)}


def add_parser(commands: Any) -> None:  # noqa: ANN401 — argparse hides the type
    """Add the commands."""
    serve = commands.add_parser("serve", help="run the service: HTTP in, alerts out")
    _add_settings(serve)
    serve.add_argument("--listen", metavar="ADDRESS:PORT")
    told = "fill it with saved searches and messages, in a database that goes when it ends"
    serve.add_argument("--demo", action="store_true", help=told)
    serve.set_defaults(run=run_serve)

    deliver = commands.add_parser("deliver", help="deliver changes that another pipeline has found")
    _add_settings(deliver)
    deliver.add_argument("--listen", metavar="ADDRESS:PORT")
    deliver.add_argument("--from", dest="source", required=True, metavar="kafka://HOST:PORT/TOPIC")
    deliver.add_argument(
        "--share", metavar="I/N", help="only the I-th of N parts of the subscribers"
    )
    deliver.set_defaults(run=run_deliver)

    backup = commands.add_parser("backup", help="copy everything to a file, while the service runs")
    _add_settings(backup)
    backup.add_argument("out", metavar="FILE")
    backup.set_defaults(run=run_backup)

    restore = commands.add_parser("restore", help="fill an empty database from a backup")
    _add_settings(restore)
    restore.add_argument("backup", metavar="FILE")
    restore.set_defaults(run=run_restore)

    config = commands.add_parser("config", help="settings of the service")
    config_commands = config.add_subparsers(dest="what", required=True, metavar="WHAT")
    check = config_commands.add_parser("check", help="read settings and say what they come to")
    _add_settings(check)
    check.set_defaults(run=run_check)
    _add_keys(commands)


def _add_keys(commands: Any) -> None:  # noqa: ANN401
    keys = commands.add_parser("keys", help="keys of the service")
    key_commands = keys.add_subparsers(dest="what", required=True, metavar="WHAT")
    create = key_commands.add_parser("create", help="make a key and print it, this once")
    _add_settings(create)
    create.add_argument("--role", action="append", required=True, metavar="ROLE", dest="roles")
    create.add_argument("--owner", metavar="NAME", help="the subscriber that the key is for")
    create.add_argument("--name", default="", metavar="TEXT")
    create.set_defaults(run=run_create_key)
    listed = key_commands.add_parser("list", help="list keys, without what is secret about them")
    _add_settings(listed)
    listed.set_defaults(run=run_list_keys)
    remove = key_commands.add_parser("remove", help="refuse a key from now on")
    _add_settings(remove)
    remove.add_argument("id", metavar="ID")
    remove.set_defaults(run=run_remove_key)


def _add_settings(parser: Any) -> None:  # noqa: ANN401
    parser.add_argument("--config", metavar="FILE", help="settings, TOML")
    parser.add_argument("--database", metavar="URL", help="sqlite:///FILE or postgresql://…")


def settings_of(args: argparse.Namespace, **fixed: Any) -> Settings:  # noqa: ANN401
    """Return the settings of file, environment and options, or say what is not installed."""
    try:
        from nearcast.service.settings import read_settings
    except ImportError as error:
        what = f"the service needs a package that is not installed: {error.name}"
        raise InvalidParameterError(what, wanted="pip install nearcast[serve]") from None
    listen = getattr(args, "listen", None)
    return read_settings(args.config, os.environ, database=args.database, listen=listen, **fixed)


def run_serve(args: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    if args.demo:
        return _serve_demo(args)
    settings = settings_of(args)
    from nearcast.service.process import serve

    return serve(settings)


def _serve_demo(args: argparse.Namespace) -> int:
    """Serve with saved searches and messages, in a database that goes when it ends."""
    with tempfile.TemporaryDirectory(prefix="nearcast-demo-") as folder:
        if args.database is None:
            args.database = f"sqlite:///{folder}/demo.db"
        quiet = {"log_level": "warning", "log_format": "text", "synchronous": "normal"}
        settings = settings_of(args, hub=DEMO_HUB, page=DEMO_PAGE, **quiet)
        from nearcast.cli.demo_service import Demo
        from nearcast.service.process import serve

        scheme = "http" if settings.tls.certificate is None else "https"
        url = f"{scheme}://{settings.listen}"

        async def keep_busy() -> None:
            print(f"nearcast is at {url}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
            await Demo(url, settings.admin_key).run()

        return serve(settings, beside=keep_busy)


def run_deliver(args: argparse.Namespace) -> int:
    """Deliver until a signal comes."""
    settings = settings_of(args)
    from nearcast.service.delivering import Source
    from nearcast.service.process import serve

    return serve(settings, Source.read(args.source, args.share))


def run_backup(args: argparse.Namespace) -> int:
    """Copy everything to a file."""
    settings = settings_of(args)
    from nearcast.service.backup import backup

    rows = backup(settings.database, args.out)
    print(f"{rows} rows in {args.out}", file=sys.stderr)
    return 0


def run_restore(args: argparse.Namespace) -> int:
    """Fill an empty database."""
    settings = settings_of(args)
    from nearcast.service.backup import restore

    rows = restore(args.backup, settings.database)
    print(f"{rows} rows in the database", file=sys.stderr)
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Print the settings as they are, without secrets; fail if they are wrong."""
    settings = settings_of(args)
    from nearcast.service.reports import shown_settings

    print(shown_settings(settings))
    return 0


def run_create_key(args: argparse.Namespace) -> int:
    """Make a key. A service that runs knows it after a few seconds."""
    settings = settings_of(args)
    from nearcast.service.reports import create_key

    print(create_key(settings, args.name, args.roles, args.owner))
    return 0


def run_list_keys(args: argparse.Namespace) -> int:
    """List keys."""
    settings = settings_of(args)
    from nearcast.service.reports import list_keys

    for line in list_keys(settings):
        print(line)
    return 0


def run_remove_key(args: argparse.Namespace) -> int:
    """Remove a key."""
    settings = settings_of(args)
    from nearcast.service.reports import remove_key

    remove_key(settings, args.id)
    return 0
