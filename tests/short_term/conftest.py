"""The cases of `reference_cases` are imported by name, wherever the tests run from."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
