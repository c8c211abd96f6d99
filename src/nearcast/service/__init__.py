"""`nearcast serve`: a durable hub behind HTTP, and everything that it changes delivered.

The rooms, lowest first: `settings` and `problems` know nothing of the others; `wire` turns bodies
into events; `schema` and `store` are the database; `batches` and `streams` give every change its
number; `noise` decides what waits; `engine` puts a hub, a store and streams together; `writer`
is the only one that changes them; `delivery/` takes what is durable to subscribers; `http/`
answers requests; `process` runs all of it.
"""
