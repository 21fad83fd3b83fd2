"""The benchmarks are scripts, run from their own folder; the tests import them the same way."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
