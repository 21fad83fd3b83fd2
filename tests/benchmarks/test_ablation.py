"""The ablation finds its steps by name, so it has to hold whatever weights recall has when it runs."""

import json
import sys

import ablation
import pytest
import report
from publish import BLOCKS, fill, weights

from shared_core.evaluation import embedders
from shared_core.evaluation.reading import read
from shared_core.evaluation.sets import part


@pytest.fixture
def sample(tmp_path):
    turns = [
        "My brother repairs violins.",
        "We planted two pear trees.",
        "The ferry to Oslo was late.",
        "我在学做豆腐。",
    ]
    body = {
        "sample_id": "conv-x",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(turns, 1)],
        },
        "qa": [
            {"question": "Who repairs violins?", "evidence": ["D1:1"], "category": 4},
            {"question": "Ann在学做什么？", "evidence": ["D1:4"], "category": 4},
        ],
    }
    path = tmp_path / "sample.json"
    path.write_text(json.dumps([body], ensure_ascii=False), encoding="utf-8")
    return path


def test_every_weight_is_a_step_and_kinds_hold_several():
    steps = ablation.steps()
    alone = {step.weights[0] for step in steps if len(step.weights) == 1}
    assert alone == {name for each in ablation.all_weights().values() for name in each}
    assert len({step.name for step in steps}) == len(steps)
    assert any(len(step.weights) > 1 for step in steps)


def test_a_step_is_off_inside_and_back_afterwards():
    before = {name: dict(each) for name, each in ablation.all_weights().items()}
    functions = {(m.__name__, n) for m in ablation.modules() for n in vars(m)}
    for step in ablation.steps():
        with ablation.without(step):
            inside = ablation.all_weights()
            assert not any(name in each for each in inside.values() for name in step.weights)
        assert {name: dict(each) for name, each in ablation.all_weights().items()} == before
    assert {(m.__name__, n) for m in ablation.modules() for n in vars(m)} == functions


def test_without_all_words_and_all_meaning_nothing_is_found_on_purpose(sample):
    built = ablation.Built(read([sample])[0], embedders.load("hashing"))
    everything = built.measure()
    names = tuple(name for each in ablation.all_weights().values() for name in each)
    with ablation.without(ablation.Step("all", names)):
        nothing = built.measure()
    built.close()
    assert everything["R@1"] == 1.0
    assert nothing["R@1"] < 1.0


def test_each_step_is_measured_and_shown(sample):
    parts = {"LoCoMo": read([sample])[0]}
    said = []
    rows = ablation.run(parts, embedders.load("hashing"), said.append)
    assert said == [step.name for step in ablation.steps()]  # and no line about a failure
    assert all(row["LoCoMo"]["n"] == 2 for row in rows.values())
    table = ablation.table(rows)
    assert table.columns == ("LoCoMo R@1", "LoCoMo R@5", "LoCoMo R@10", "LoCoMo MRR")
    assert table.rows[0][0] == "everything"
    report.console().print(report.table(table))


def test_a_step_that_recall_cannot_do_without_costs_only_its_own_row(sample, monkeypatch):
    def broken(*given):
        raise IndexError("no forms")

    step = ablation.Step("broken", (), "statements", lambda real: broken)
    said = []
    rows = ablation.run({"LoCoMo": read([sample])[0]}, embedders.load("hashing"), said.append, [step])
    assert rows["broken"] == {}
    assert any("no forms" in line for line in said)


def test_where_a_conversation_is_the_query_only_its_own_weights_are_steps(sample, monkeypatch):
    from shared_core.evaluation.sets import Question, Sample
    from shared_core.values import Message

    told = (Message(role="user", content="Ann danced.", id="1"), Message(role="user", content="Ben sang.", id="2"))
    talk = (Message(role="user", content="A party!"), Message(role="user", content="Who danced?"))
    asked = Question("Who danced?", ("1",), talk=talk)
    parts = {"MADial en": part("madial", "MADial", [Sample("u", {"m": told}, (asked,), kind="event")], "")}
    chosen = [step for step in ablation.steps() if step.weights == ("speaker",)]
    rows = ablation.run(parts, embedders.load("hashing"), chosen=chosen)
    talk_names = {name for key, each in ablation.all_weights().items() if "TALK" in key for name in each}
    if chosen and talk_names and "speaker" not in talk_names:
        assert rows[chosen[0].name] == {}


def test_the_template_names_only_blocks_that_are_filled():
    import re

    import publish

    text = (publish.HERE / "recall.template.md").read_text(encoding="utf-8")
    names = set(re.findall(r"\{(\w+)\}", text))
    assert names == {*BLOCKS, "environment", "short", "weights", "losses", "commands"}
    filled = fill(text, dict.fromkeys(names, "X"))
    assert not re.search(r"\{\w+\}", filled)
    assert "| meaning |" in weights()


@pytest.mark.parametrize("name", ["locomo", "madial", "ablation", "options", "publish", "scale"])
def test_each_script_tells_what_it_takes(name, capsys, monkeypatch):
    import importlib

    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(name).main(["--help"])
    assert ended.value.code == 0
    assert "usage" in capsys.readouterr().out


def test_the_page_of_a_small_run(sample, tmp_path, monkeypatch):
    import publish

    monkeypatch.setattr(publish.page, "_plots", lambda found, folder: [])
    said = []
    where = publish.run(sample, tmp_path, tmp_path / "docs" / "recall", only=["locomo"], say=said.append)
    text = where.read_text(encoding="utf-8")
    assert "| twinmem |" in text
    assert "*Not measured in this run.*" in text
    assert "- LoCoMo: " in text
    folder = tmp_path / "docs" / "recall"
    kept = json.loads((folder / "figures.json").read_text(encoding="utf-8"))["blocks"]
    assert kept["locomo"]["figures"][0]["n"] > 0
    assert "load of the machine" in text

    # A second run measures another block and leaves the first as it was; a plot that nothing shows goes.
    (folder / "old.png").write_bytes(b"")
    monkeypatch.setattr(publish, "speed", lambda sizes, say: {"lines": [], "over": ["opening"], "load_average": [0.1]})
    again = publish.run(sample, tmp_path, tmp_path / "docs" / "recall", only=["speed"], say=said.append)
    text = again.read_text(encoding="utf-8")
    assert "| twinmem |" in text
    assert "over budget: opening" in text
    assert not (folder / "old.png").exists()
    assert publish.kept(folder)["locomo"] == kept["locomo"]
    assert publish.run(sample, tmp_path, tmp_path / "docs" / "recall", only=[]).read_text(encoding="utf-8") == text


def test_c1_c3_options_of_recall_are_measured_as_rows(sample):
    import options

    from shared_core.evaluation import embedders, reading

    parts = {"LoCoMo": reading.read([sample], "locomo")[0]}
    rows = options.run(parts, embedders.load("hashing"), ["mixes"])
    assert next(iter(rows)) == options.PLAIN
    assert len(rows) == 1 + len(options.MIXES)
    shown = options.table(rows, "Mixes")
    assert shown.columns[0] == "LoCoMo R@1"
    assert options.each_person("What do Ann and Ben both like?") == ["What do Ann like?", "What do Ben like?"]
    assert options.each_person("What does Ann like?") == []
    assert options.blended(lambda query, texts: [0, 1, 2], 0.0)("q", ["a", "b", "c"]) == sorted(
        options.blended(lambda query, texts: [0, 1, 2], 0.0)("q", ["a", "b", "c"]), reverse=True
    )
    assert options.overlap("green tea", ["tea", "green tea", "milk"]) == [0.5, 1.0, 0.0]
