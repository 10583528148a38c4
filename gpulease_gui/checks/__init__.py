"""What a reading means against the promise and the catalogue: one file per check.

A module of this package is a check when it has CHECK and `judge`; nothing is registered by hand.
"""
