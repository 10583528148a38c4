"""Which program is sent to a node to read it?"""

from __future__ import annotations

from importlib import resources


def agent_program() -> bytes:
    """The agent's one file, as it is sent."""
    return (resources.files("gpulease_gui") / "agent" / "node_agent.py").read_bytes()
