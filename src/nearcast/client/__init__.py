"""Talk to `nearcast serve` from Python: subscribe, publish, and follow what arrives.

Every write has an idempotency key of its own and is repeated when its answer is lost: it happens
once. Following resumes where it was when the connection is lost.

>>> from nearcast.client import Client
>>> client = Client("http://127.0.0.1:8080")  # nothing is connected before the first call
>>> client.close()
"""

from nearcast.client.async_client import AsyncClient
from nearcast.client.calls import ClientError
from nearcast.client.sync_client import Client

__all__ = ["AsyncClient", "Client", "ClientError"]
