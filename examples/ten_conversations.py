"""Ten conversations on ten days, and thirty questions to what the memory made of them; no model, no key, no network.

    python examples/ten_conversations.py [--language en|zh] [--file agent.db]

The talk is in `ten_days/`, in English and in Chinese. An agent tells the memory what is said as it
is said (`Session.add_messages`), keeps its tasks in the working memory, and ends each conversation.
Nothing is told as a fact: who lives where, what has changed since, what happens when and what
usually works is read out of the talk.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from ten_days import chinese, english
from ten_days.parts import Agent, Alias, Call, Day, Done, Forget, Meant, Question, Story, Task, User

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock

STORIES = {"en": english.STORY, "zh": chinese.STORY}
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
FIRST = 5  # hits of a search, as `Scope.search` gives them by default


# ---------------------------------------------------------------------- telling


def tell(scope: Scope, day: Day, clock: ManualClock) -> None:
    """One conversation, as an agent would store it; two minutes pass with every step."""
    chat = scope.session(day.session)
    calls = 0
    for step in day.steps:
        clock.advance(minutes=2)
        match step:
            case User(text):
                chat.add_messages([{"role": "user", "content": text}])
            case Agent(text):
                chat.add_messages([{"role": "assistant", "content": text}])
            case Call(tool, args, result):
                calls += 1
                call = {"id": f"call-{calls}", "name": tool, "args": dict(args)}
                chat.add_messages([
                    {"role": "assistant", "content": "", "tool_calls": [call]},
                    {"role": "tool", "content": result, "tool_call_id": call["id"], "name": tool},
                ])  # fmt: skip
            case Task(id, description, constraints, plan):
                chat.working.start(id, description, constraints=constraints, plan=plan)
            case Done(action, result, complete):
                chat.working.step(action, result)
                if complete:
                    chat.working.complete(result)
            case Alias(name, other):
                scope.graph.alias(name, other)
            case Meant(phrase, thing):
                meant = chat.resolve(phrase)
                if meant.chosen is None or meant.chosen.text != thing:
                    raise SystemExit(f"{phrase!r} is {thing}, not {meant.chosen}")
            case Forget(word):
                forget(scope, word)
    chat.end()


def forget(scope: Scope, word: str) -> None:
    """Erase whatever holds a word: what was said, and with it what was read from it."""
    for record in scope.list(where={"text": {"$contains": word}}):
        scope.delete(record.id)


def mornings(clock: ManualClock, days: Sequence[Day]) -> Iterator[Day]:
    """The days one after the other; each begins at nine."""
    for number, day in enumerate(days):
        clock.now = START + timedelta(days=number)
        yield day


# ---------------------------------------------------------------------- asking


def answers(scope: Scope, question: Question) -> list[str]:
    """What the memory answers, the best first: the verb that a question names does all."""
    asked = question.asked
    match question.verb:
        case "search":
            then = None if question.day is None else START + timedelta(days=question.day - 1, hours=8)
            return [hit.record.text for hit in scope.search(asked, k=FIRST, as_of=then)]
        case "event":
            found = [hit.record for hit in scope.search(asked, k=FIRST, kinds=["event"])]
            return [f"{record.text} ({record.event_time:%Y-%m-%d})" for record in found]
        case "timeline":
            return [record.text for record in scope.episodes.timeline(on=asked, **question.more)]
        case "ask":
            return [answer.text for answer in scope.graph.ask(asked)]
        case "neighbours":
            return [each.name for each in scope.graph.neighbours(asked, **question.more)]
        case "path":
            return [" ".join(path.names) for path in scope.graph.paths(asked, question.more["to"])]
        case "works" | "avoid":
            found = scope.procedures.match(asked)
            return [str(each) for each in found if each.avoid == (question.verb == "avoid")]


def is_right(question: Question, found: Sequence[str]) -> bool:
    """Whether one of the answers says it, and none says what is not so."""
    wanted = [*question.holds, *([f"({question.on})"] if question.on else [])]
    place = next((at for at, text in enumerate(found) if all(word in text for word in wanted)), None)
    if place is None or any(word in text for word in question.never for text in found):
        return False
    return not any(word in text for word in question.stale for text in found[:place])


def main() -> None:
    """Tell a story, and print what is asked and answered."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=STORIES, default="en")
    parser.add_argument("--file", help="keep the memory in this file; by default it is gone afterwards")
    given = parser.parse_args()
    story: Story = STORIES[given.language]
    clock = ManualClock(START)
    with AgentMemory.open(given.file, clock=clock) as memory:
        scope = memory.scope(user=story.user)
        for day in mornings(clock, story.days):
            tell(scope, day, clock)
            print(f"{clock.now:%a %d %b}  {day.session}: {len(scope.session(day.session).messages())} messages")
        scope.procedures.mine()
        print(f"\n{scope.profile.text()}\n")
        right = 0
        for question in story.questions:
            found = answers(scope, question)
            right += is_right(question, found)
            when = f" (day {question.day})" if question.day else ""
            print(f"{'ok' if is_right(question, found) else '--'}  {question.verb}: {question.asked}{when}")
            for text in found[:FIRST]:
                print(f"      {text.replace(chr(10), ' / ')}")
        print(f"\n{right} of {len(story.questions)} as expected")


if __name__ == "__main__":
    main()
