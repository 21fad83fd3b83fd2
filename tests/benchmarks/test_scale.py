"""What feeds the speed benchmark, and the verdicts: an unfair bench would flatter us or the bare engines."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scale import Bare, Line
from workload import DIMENSIONS, generate


def test_the_workload_is_the_same_each_run_and_in_two_languages():
    one, two = generate(300, 10, spare=20), generate(300, 10, spare=20)
    assert one.texts == two.texts
    assert one.questions == two.questions
    assert np.array_equal(one.vectors, two.vectors)
    assert len(set(one.texts)) == len(one.texts) == 320
    chinese = sum(text.endswith("。") for text in one.texts)
    assert 60 < chinese < 140
    assert 11 < sum(map(len, one.words)) / 320 < 13
    assert one.vectors.shape == (320, DIMENSIONS)
    assert np.allclose(np.linalg.norm(one.vectors, axis=1), 1, atol=1e-5)


def test_each_question_lies_nearest_to_a_record_that_is_searched_for():
    load = generate(300, 40, spare=20)
    nearest = (load.question_vectors @ load.vectors.T).argmax(axis=1)
    assert nearest.max() < 300
    assert len(set(load.questions)) == 40


def test_the_prepared_embedder_counts_what_it_was_not_given():
    load = generate(50, 5)
    embedder = load.embedder()
    assert np.array_equal(embedder.embed_documents(load.texts[:3]), load.vectors[:3])
    assert np.array_equal(embedder.embed_query(load.questions[4]), load.question_vectors[4])
    assert embedder.misses == 0
    vectors = embedder.embed_documents([load.texts[0], "unknown"])
    assert embedder.misses == 1
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_bare_rows_hold_what_a_record_holds(tmp_path):
    load = generate(20, 2)
    bare = Bare(tmp_path / "bare.db", load, "float16")
    bare.insert_each([bare.row(0)])
    bare.insert_many([bare.row(number) for number in range(1, 20)])
    bare.close()
    with sqlite3.connect(tmp_path / "bare.db") as connection:
        rows = connection.execute("SELECT text, kind, length(vector) FROM record ORDER BY id").fetchall()
    connection.close()
    assert [row[0] for row in rows] == load.texts
    assert {row[1:] for row in rows} == {("fact", DIMENSIONS * 2)}


@pytest.mark.parametrize(
    ("figure", "budget", "verdict"),
    [(2.0, "≤ 2", "ok"), (2.1, "≤ 2", "over"), (0.4, "≥ 0.333", "ok"), (0.3, "≥ 0.333", "over"), (9.0, "", "")],
)
def test_verdicts(figure, budget, verdict):
    assert Line(1000, "what", "", "", figure, budget).verdict == verdict


def test_the_time_an_import_takes_is_not_that_of_a_second_import():
    script = Path(__file__).parents[2] / "benchmarks" / "scale.py"
    line = [sys.executable, str(script), "--child", "import"]
    found = json.loads(subprocess.run(line, capture_output=True, check=True, timeout=120).stdout)
    assert found["seconds"] > 0.005
