"""Objects that move on a road network, and the subscriptions that go with them.

`network` says what can be driven on, `files` reads one, `town` makes one up. `routes` finds the
ways, `fleet` moves objects along them. `workload` gives the objects keywords and areas and
publishes messages around them; `log` writes all of it as events.

In the spirit of T. Brinkhoff, *A Framework for Generating Network-Based Moving Objects*
(GeoInformatica 6(2), 2002), whose generator [AP §5.2.1] uses; the code is our own. What differs:
an object that arrives sets out again, because a subscription does not end with a trip;
destinations are a few hundred nodes, so that a million objects share their ways; no object
is slowed down by others.
"""
