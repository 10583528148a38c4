"""A park of simulated supplier nodes on this computer, each with its own truth; the app can't tell them from real ones.

A node is one folder below resources/demo: its papers, its contract and what stands in it, in node.toml.
"""
