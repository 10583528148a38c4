"""A program that watches one node and nothing else, so that a test can kill it or put it into a network of its own.

    python -m tests.integration.watch_client WORKSPACE NODE_ID HZ

It prints `up` when samples come, waits for the end of its stdin, and prints the curves as JSON: "metric subject" to
[[UTC seconds, value or null], ...].
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.services.composition import open_services
from gpulease_gui.store.nodes import get_node, save_node

LOCAL = "here"


def main() -> None:
    services = open_services(Path(sys.argv[1]))
    if sys.argv[2] == LOCAL:
        node = Node(LOCAL, "this computer", Reach.LOCAL)
        services.workspace.submit(lambda db: save_node(db, node)).result()
    with services.workspace.read() as connection:
        node = get_node(connection, sys.argv[2])
    view = services.watching.start(node, interval_s=1 / float(sys.argv[3]))
    while sum(ring.total for ring in view.rings.values()) < 20:
        time.sleep(0.02)
    print("up", flush=True)
    sys.stdin.read()
    curves = {}
    for (metric, subject), ring in view.rings.items():
        seen = ring.view()
        pairs = zip(seen.times_s, seen.values, strict=True)
        curves[f"{metric} {subject}"] = [[at_s, None if math.isnan(value) else value] for at_s, value in pairs]
    print(json.dumps(curves), flush=True)
    services.close()


if __name__ == "__main__":
    main()
