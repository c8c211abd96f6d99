"""Subscriptions and messages to measure with.

Either from the generator (`presets`, `generate`: data as a function of preset and seed) or from
Parquet files of real texts (`real`). Both give the same Arrow tables; `scenario` bundles them.
"""
