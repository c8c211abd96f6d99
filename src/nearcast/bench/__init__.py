"""What does matching cost? The room behind `nearcast bench` and `nearcast generate`.

`workloads` makes or reads subscriptions and messages, `contenders` puts every index kind behind
one interface, `harness` measures and checks them in the same run, `report` shows the numbers.
Only the command line imports this package.
"""
