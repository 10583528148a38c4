"""What flows while a node runs: one source per file = an endless script, its line reader, its metrics.

A module of this package is a source when it has SOURCE; nothing is registered by hand.
"""
