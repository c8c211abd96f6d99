"""Subscriptions of every mode over a stream of events, in partitions that together are one hub.

Events are read and routed by workers (`reading`), put into sequence by the driver (`sequencing`),
and carried out by partitions (`partition`), each a hub of its own; lists of top subscriptions that
several partitions have a part of become one again in workers (`merging`). `kept` has what workers
keep between batches, `pipeline` the order of it all and its files. Only `stream` knows Spark.
"""
