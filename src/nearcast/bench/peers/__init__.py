"""What people would use instead of nearcast, on the same subscriptions and messages.

`workload` is what all of them read, `peer` what each can do, `comparing` runs them one after the
other and compares their answers. Each is used as its documentation advises; what it is told, and
its version, stand in the result.
"""
