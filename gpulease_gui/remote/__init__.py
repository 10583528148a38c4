"""How are commands run on nodes, over SSH or here?"""

import sys

# The SSH library loads `invoke`, and with it a third of its own time, for one word of config files that we read ourselves.
sys.modules.setdefault("invoke", None)  # type: ignore[arg-type]  # None: it can't be imported; the library allows for that
