"""`twinmem bench`: a file of a public set in, a table and a page out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SAMPLE = {
    "sample_id": "conv-x",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "My brother repairs violins."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "我在学做豆腐。"},
        ],
    },
    "qa": [
        {"question": "Who repairs violins?", "evidence": ["D1:1"], "category": 4, "answer": "Ann's brother"},
        {"question": "谁在学做豆腐？", "evidence": ["D1:2"], "category": 1},
    ],
}

DAY = [
    {"tid": n, "message_list": [{"mid": 0, "message": f"我买了{n}个苹果", "time": "2023-05-08 09:30", "place": "家"}],
     "question_list": [{"question": "我买了几个苹果？", "target_step_id": [0]}]}
    for n in range(12)
]  # fmt: skip


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.json"
    path.write_text(json.dumps([SAMPLE], ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own tests draw them, which takes its time."""
    from shared_core.evaluation import page

    monkeypatch.setattr(page, "_plots", lambda found, folder: [])


def test_a_table_with_controls_and_a_page(run: Run, sample: Path, tmp_path: Path) -> None:
    done = run("bench", sample, "-e", "hashing", "--no-peers")
    assert (done.code, done.err) == (0, "")
    assert "LoCoMo: 1 conversation, 2 messages, 2 questions; embedder" in done.out
    assert "control: random order" in done.out
    assert "share of the evidence inside a prompt" in done.out
    assert "LangChain" not in done.out
    assert "What loses" in done.out
    page = (tmp_path / "twinmem-bench.md").read_text(encoding="utf-8")
    assert "| twinmem | **1.000**" in page
    assert f"twinmem bench {sample} --embedder hashing --no-peers" in page


def test_the_page_goes_where_it_is_told(run: Run, sample: Path, tmp_path: Path) -> None:
    done = run("bench", sample, "-e", "hashing", "--no-peers", "--set", "locomo", "--out", "a/b.md")
    assert done.code == 0
    assert (tmp_path / "a" / "b.md").exists()
    assert not (tmp_path / "twinmem-bench.md").exists()


def test_the_same_for_programs_writes_no_page_unasked(run: Run, sample: Path, tmp_path: Path) -> None:
    done = run("bench", sample, "-e", "hashing", "--no-peers", "--json")
    [line] = done.lines
    assert (line["set"], line["n"], line["systems"]["twinmem"]["turns"]["all"]["R@1"]) == ("locomo", 2, 1.0)
    assert line["python"]
    assert not list(tmp_path.glob("*.md"))


@pytest.mark.parametrize(
    "given", [("--noise", "2", "3"), ("--noise", "2,3"), ("--noise", "2", "--noise", "3"), ("--noise", "2 3")]
)
def test_noise_in_every_spelling(run: Run, tmp_path: Path, given: tuple[str, ...]) -> None:
    path = tmp_path / "day.json"
    path.write_text(json.dumps(DAY, ensure_ascii=False), encoding="utf-8")
    done = run("bench", path, *given, "--limit", "2", "-e", "hashing", "--no-peers", "--json")
    assert [line["messages"] for line in done.lines] == [2, 4, 6]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nowhere.json",), 1, "no file or folder nowhere.json"),
        (("sample.json", "--set", "msc"), 2, "msc"),
        (("sample.json", "--noise", "much"), 2, "whole numbers"),
        (("--noise", "10", "20"), 2, "name a file"),
        ((), 2, "Missing argument"),
    ],
)
def test_called_wrongly(run: Run, sample: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = run("bench", *arguments)
    assert done.code == code
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_peers_that_are_missing_are_named_and_the_rest_is_measured(
    run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared_core.evaluation import run as measuring
    from shared_core.evaluation.peers import Peer

    class Missing(Peer):
        name = "Missing memory"

        def build(self, texts: object, ids: object) -> None:
            raise ModuleNotFoundError("No module named 'missing_memory'", name="missing_memory")

    monkeypatch.setattr(measuring, "PEERS", (Missing,))
    done = run("bench", sample, "-e", "hashing")
    assert done.code == 0
    assert "Missing memory: not installed: missing_memory" in done.out


def test_c7_a_public_set_has_hit_rate_growth_and_answers_too(run: Run, sample: Path, tmp_path: Path) -> None:
    (tmp_path / "my_bench_model.py").write_text(
        "def ask(prompt): return \"Ann's brother\" if 'My brother repairs violins' in prompt else 'no idea'\n"
        "def judge(prompt): return 'yes' if \"Given answer: Ann's brother\" in prompt else 'no'\n",
        encoding="utf-8",
    )
    given = ("bench", sample, "-e", "hashing", "--no-peers", "--llm", "my_bench_model:ask")
    [line] = run(*given, "--json").lines
    assert line["systems"]["twinmem"]["turns"]["all"]["hit@5"] == 1.0
    assert line["answers"]["n"] == 1, "of the questions that have an answer"
    assert (line["answers"]["with"], line["answers"]["exact without"], line["answers"]["gain"]) == (1.0, 0.0, 1.0)
    assert line["growth"][0]["by_kind"]["turn"] == 2
    done = run(*given, "--judge", "my_bench_model:judge")
    assert "answers with twinmem's context and without" in done.out
    assert "importance over 0.7" in done.out
    assert "--judge my_bench_model:judge" in (tmp_path / "twinmem-bench.md").read_text(encoding="utf-8")
