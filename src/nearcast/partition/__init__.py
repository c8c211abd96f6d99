"""Which partitions does a subscription live in, and which must see a message?

Pure functions of columns [Skype §7.3]: no Spark, no files. `wants` says what routing must know of a
subscription, `keyword_cuts` and `space_cuts` divide words and space, `planner` makes a `Plan` of
them, `adjust` splits and merges partitions of one, `report` says what it costs.
"""

from nearcast.partition.adjust import ADJUSTABLE, adjust_plan
from nearcast.partition.plan import MECHANISMS, Plan
from nearcast.partition.planner import held_out, make_plan
from nearcast.partition.report import PlanReport, imbalance, measure_placed, measure_plan
from nearcast.partition.wants import Wants, wants_of_events, wants_of_table

__all__ = [
    "ADJUSTABLE",
    "MECHANISMS",
    "Plan",
    "PlanReport",
    "Wants",
    "adjust_plan",
    "held_out",
    "imbalance",
    "make_plan",
    "measure_placed",
    "measure_plan",
    "wants_of_events",
    "wants_of_table",
]
