"""What the tests of the LangChain adapter share."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONTRACTS = HERE.parents[2] / "shared" / "contracts"

# Without the extra `agents` there is no `create_agent`; everything else works and is tested.
AGENTS = importlib.util.find_spec("langchain") is not None
collect_ignore = [] if AGENTS else ["test_middleware.py", "test_summarizer.py", "test_company.py"]


@pytest.fixture
def contract() -> Callable[..., int]:
    """`contract(file, option, factory)`: run a black-box contract whole; the number of checks that passed."""

    def _contract(file: str, option: str, factory: str) -> int:
        if not CONTRACTS.is_dir():
            pytest.skip("the contracts are not beside this checkout")
        # The contracts use deprecated classes themselves, so they run apart from warnings as errors.
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir",
             str(CONTRACTS), str(CONTRACTS / file), option, factory],
            cwd=HERE, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        summary = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr
        assert done.returncode == 0, done.stdout[-5000:]
        assert "skipped" not in summary, summary
        return int(summary.split(" passed")[0].split()[-1])

    return _contract
