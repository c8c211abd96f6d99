"""Requests in, answers out. `gateway` receives, `routes` lists, one file per kind of resource."""
