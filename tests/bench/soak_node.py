"""What does a node answer to the agent's start? It reads the agent and prints the lines of a busy node instead, till its stdin ends.

It stands in the place of a node's python3: `soak_node.py -c ...`.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.lines import text_of


def main() -> None:
    source = sys.stdin.buffer
    source.read(int(source.readline()))
    wish = json.loads(source.readline())
    begun, tick = time.monotonic(), 0
    while True:
        text = text_of(wish["mark"], tick)
        while text:
            text = text[os.write(1, text) :]
        tick += 1
        due_s = begun + tick * wish["interval_s"]
        while (left_s := due_s - time.monotonic()) > 0:
            if select.select([0], [], [], left_s)[0] and not os.read(0, 4096):
                return


if __name__ == "__main__":
    main()
