"""What can be read from a node: one file per command or per kind of pasted output.

A module of this package is a fact when it has FACT, `parse` and `as_dict`; nothing is registered by hand.
"""
