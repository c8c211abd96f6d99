"""Subscriptions of every mode over a stream of events: many hubs that together are one.

`shares` says what each hub is told and what one does in a worker, `stream` runs them on Spark. Only
the last knows Spark.
"""
