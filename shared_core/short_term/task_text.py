"""The working memory as text for a prompt, in the language of the conversation (A6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared_core.ports import TokenCounter
from shared_core.short_term.tasks import Step, Task, Tasks
from shared_core.short_term.tokens import shorten

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "task": "Task", "part": "Part of", "goal": "Goal", "constraints": "Constraints", "deadline": "Deadline",
        "overdue": "overdue", "plan": "Plan", "variables": "Variables", "steps": "Last steps", "failed step": "failed",
        "results": "Results so far", "result": "Result", "error": "Error", "shared": "Holds for all tasks",
        "observations": "Newest observations", "aside": "Set aside", "now": "now", "done": "done", "colon": ": ",
        "pending": "pending", "in_progress": "in progress", "paused": "paused", "completed": "completed",
        "failed": "failed", "comma": "; ", "open": " (", "close": ")",
    },
    "zh": {
        "task": "任务", "part": "所属任务", "goal": "目标", "constraints": "约束", "deadline": "截止时间",
        "overdue": "已逾期", "plan": "计划", "variables": "变量", "steps": "最近的步骤", "failed step": "失败",
        "results": "中间结果", "result": "结果", "error": "错误", "shared": "全局上下文",
        "observations": "最新的环境观察", "aside": "搁置的任务", "now": "当前", "done": "已完成", "colon": "：",
        "pending": "待处理", "in_progress": "进行中", "paused": "已暂停", "completed": "已完成", "failed": "已失败",
        "comma": "；", "open": "（", "close": "）",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of the working memory goes into the prompt."""

    steps: int = 5
    result_chars: int = 200
    observations: int = 5
    aside: int = 5


def text(tasks: Tasks, tongue: str, now: datetime, shown: Shown | None = None) -> str:
    """The current task as lines for a prompt, what matters most first; empty where there is nothing to say.

    `tongue` is "en" or "zh". A list stands under its heading, an entry a line that begins with "- ".
    """
    return "\n".join(_lines(tasks, _WORDS[tongue], now, shown or Shown()))


def _lines(tasks: Tasks, words: Mapping[str, str], now: datetime, shown: Shown) -> Iterator[str]:
    stack = tasks.stack()
    if stack:
        yield from _task(stack, words, now, shown)
    yield from _listed(words["shared"], _pairs(tasks.shared, shown), words)
    seen = tasks.observations[-shown.observations :] if shown.observations else ()
    yield from _listed(words["observations"], (cut(each.text, shown.result_chars) for each in seen), words)
    on_stack = {task.id for task in stack}
    aside = [task for task in tasks.tasks.values() if not task.status.finished and task.id not in on_stack]
    newest = aside[-shown.aside :] if shown.aside else ()
    yield from _listed(words["aside"], (_titled(task, words) for task in newest), words)


def _task(stack: list[Task], words: Mapping[str, str], now: datetime, shown: Shown) -> Iterator[str]:
    task, colon = stack[-1], words["colon"]
    yield f"{words['task']}{colon}{_titled(task, words)}"
    if len(stack) > 1:
        yield f"{words['part']}{colon}" + " > ".join(line(above.description) for above in stack[:-1])
    for name, value in (("goal", task.goal), ("result", task.result), ("error", task.error)):
        if value:
            yield f"{words[name]}{colon}{cut(value, shown.result_chars) if name != 'goal' else line(value)}"
    yield from _listed(words["constraints"], map(line, _constraints(stack)), words)
    if task.deadline is not None:
        late = f"{words['open']}{words['overdue']}{words['close']}" if task.overdue(now) else ""
        yield f"{words['deadline']}{colon}{task.deadline:%Y-%m-%d %H:%M} UTC{late}"
    yield from _listed(words["plan"], _planned(task, words), words)
    last = task.steps[-shown.steps :] if shown.steps else ()
    yield from _listed(words["steps"], (_done(step, words, shown) for step in last), words)
    told = ((f"{r.name}{colon}" if r.name else "") + cut(r.text, shown.result_chars) for r in task.results)
    yield from _listed(words["results"], told, words)
    variables = {name: value for above in stack for name, value in above.variables.items()}
    yield from _listed(words["variables"], _pairs(variables, shown), words)


def _constraints(stack: list[Task]) -> list[str]:
    """Those of a task, and those of the tasks it is a part of: they hold for it too."""
    return list(dict.fromkeys(constraint for task in reversed(stack) for constraint in task.constraints))


def _planned(task: Task, words: Mapping[str, str]) -> Iterator[str]:
    for place, step in enumerate(task.plan):
        mark = "now" if place == task.plan_step else "done" if place < task.plan_step else ""
        yield f"{place + 1}. {line(step)}" + (f"{words['open']}{words[mark]}{words['close']}" if mark else "")


def _done(step: Step, words: Mapping[str, str], shown: Shown) -> str:
    failed = "" if step.success else f"{words['open']}{words['failed step']}{words['close']}"
    result = f"{words['colon']}{cut(step.result, shown.result_chars)}" if step.result else ""
    return f"{line(step.action)}{failed}{result}"


def _titled(task: Task, words: Mapping[str, str]) -> str:
    return f"{line(task.description)}{words['open']}{words[task.status.value]}{words['close']}"


def _pairs(values: Mapping[str, Any], shown: Shown) -> Iterator[str]:
    for name, value in values.items():
        yield f"{line(name)} = {cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), shown.result_chars)}"


def _listed(heading: str, entries: Iterable[str], words: Mapping[str, str]) -> Iterator[str]:
    found = list(entries)
    if found:
        yield f"{heading}{words['colon'].strip()}"
        yield from (f"- {entry}" for entry in found)


def line(value: str) -> str:
    """A text on one line."""
    return " ".join(value.split())


def cut(value: str, most: int) -> str:
    """A text on one line, its first `most` characters.

    >>> cut("abcdef", 4), cut("abcd", 4)
    ('abcd…', 'abcd')
    """
    flat = line(value)
    return flat if len(flat) <= most else flat[:most] + "…"


def within(text: str, max_tokens: int, count: TokenCounter) -> str:
    """A working memory's text within a number of tokens: the last lists go first, of each the oldest entries.

    The first line, what the task is, is shortened only where it alone is too long.

    >>> from shared_core.short_term.tokens import count
    >>> within("Task: tea\\nLast steps:\\n- one two three four\\n- five six\\nVariables:\\n- a = 1", 11, count)
    'Task: tea\\nLast steps:\\n- five six'
    """
    lines = text.splitlines()
    while len(lines) > 1 and count("\n".join(lines)) > max_tokens:
        head = len(lines) - 1
        while head > 1 and lines[head].startswith("- "):
            head -= 1
        # The heading of the last list, whose oldest entry goes; with its last entry the heading goes too.
        if lines[head].startswith("- ") or head == len(lines) - 1:
            del lines[head]
        else:
            del lines[head + 1]
            if head == len(lines) - 1:
                del lines[head]
    return shorten("\n".join(lines), max_tokens, count)
