"""Top lists over a stream, partitioned [Skype §7]: DSkype without cycles.

`ledger` knows what lives, `lists` where it lives and what the lists are, `partition_hub` what one
partition does, `stream` runs them on Spark. Only the last knows Spark.
"""
