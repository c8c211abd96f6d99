"""An S3-compatible server on loopback, a process that is stopped by its id."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec

from spark.ports import free_port, wait_for_port

KEYS = {
    "AWS_ACCESS_KEY_ID": "nearcast",
    "AWS_SECRET_ACCESS_KEY": "nearcast",
    "AWS_EC2_METADATA_DISABLED": "true",
}
BUCKET = "nearcast"


def missing():
    """Say what is missing to run a server here."""
    for name in ("moto", "obstore"):
        if find_spec(name) is None:
            return f"{name} is not installed: it is of the group dev"
    return None


@contextmanager
def running_store():
    """Start a server with an empty bucket; yield the bucket's options in an address.

    `NEARCAST_TEST_STORE` names a server that runs already, by such options; it has the bucket.
    """
    from pyarrow import fs

    if named := os.environ.get("NEARCAST_TEST_STORE"):
        yield named
        return
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, server)
        options = f"region=us-east-1&scheme=http&endpoint_override=127.0.0.1:{port}"
        s3, _ = fs.FileSystem.from_uri(f"s3://{BUCKET}?{options}&allow_bucket_creation=true")
        s3.create_dir(BUCKET)
        yield options
    finally:
        server.terminate()
        server.wait()
