"""Seeded stories of facts that change, in both languages, with everything that must be true at their end.

A story is told twice over: the same change `talked` (messages, through the extractor) or `stated`
(`scope.add` with triples, past the extractor). Each has siblings: facts that have nothing to do
with the change, and must be as they were.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock
from shared_core.values import Record, Status, Triple
from shared_core.writing.conflict import Claim, claim_of

KINDS = (
    "supersession", "compound", "release", "purge", "drift", "alias", "negated", "near miss", "unrelated",
)  # fmt: skip
LANGUAGES = ("en", "zh")
WAYS = ("talked", "stated")
SEED = 20260301

Saying = tuple[str, Triple, bool]  # a sentence, what it says, and whether it affirms it


@dataclass
class Told:
    """One thing that is said: several sentences may share a message."""

    sayings: tuple[Saying, ...]
    joint: str = ""

    @property
    def text(self) -> str:
        return self.joint.join(saying[0] for saying in self.sayings)


@dataclass
class Story:
    """What is said in order, and what has to hold at the end."""

    kind: str
    language: str
    way: str
    number: int
    told: list[Told] = field(default_factory=list)
    alias: tuple[str, str] | None = None
    erase: Triple | None = None
    active: set[tuple[str, str, str]] = field(default_factory=set)
    denied: set[tuple[str, str, str]] = field(default_factory=set)
    superseded: list[tuple[str, str, str]] = field(default_factory=list)


POOLS = {
    "en": {
        "place": "Lyon Rome Oslo Madrid Berlin Dublin Lisbon Vienna Prague Boston Denver Kyoto Turin Porto Zurich".split(),
        "org": "Acme Globex Initech Umbrella Stark Wayne Hooli Siemens Nokia Philips Bosch Airbus".split(),
        "food": "oolong tea,black coffee,sushi,ramen,olives,dark chocolate,cilantro,blue cheese,mango,hot curry".split(","),
        "thing": "car,boat,piano,bike,motorcycle,drone,camera,tent,canoe,scooter".split(","),
        "tool": "Vim Emacs Docker Redis Kafka Postgres Python Rust Figma Notion Slack Terraform".split(),
        "language": "French German Spanish Italian Japanese Korean Dutch Polish Swedish Greek".split(),
        "person": "Ann Bob Carla Wei Tom Mia Oscar Nina Hugo Lena".split(),
    },
    "zh": {
        "place": "杭州 上海 北京 成都 广州 深圳 南京 武汉 西安 苏州 青岛 厦门 长沙 昆明 天津".split(),
        "org": "华为 腾讯 百度 京东 小米 美团 字节跳动 阿里巴巴 网易 联想 格力 海尔".split(),
        "food": "乌龙茶 咖啡 寿司 拉面 火锅 巧克力 香菜 榴莲 芒果 豆浆".split(),
        "thing": "汽车 摩托车 钢琴 相机 帐篷 自行车 无人机 电脑 吉他 滑板".split(),
        "tool": "Vim Emacs Docker Redis Kafka Postgres Python Rust Figma Notion Slack Terraform".split(),
        "language": "法语 德语 日语 韩语 俄语 英语 意大利语 西班牙语 葡萄牙语 泰语".split(),
        "person": "张伟 李娜 王芳 刘洋 陈静 赵磊 孙丽 周杰 吴敏 郑凯".split(),
    },
}  # fmt: skip

# By predicate: its pool, sentences of the speaker, of somebody else, and of an end or a denial.
SAY: dict[str, dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]] = {
    "en": {
        "lives_in": ("place", ("I live in {}", "I moved to {}"), ("{n} lives in {}", "{n} moved to {}"),
                     ("I don't live in {} anymore", "I no longer live in {}")),
        "works_at": ("org", ("I work at {}", "I work for {}"), ("{n} works at {}",),
                     ("I quit my job at {}", "I no longer work at {}")),
        "likes": ("food", ("I like {}", "I love {}"), ("{n} likes {}",), ("I no longer like {}", "I don't like {} anymore")),
        "owns": ("thing", ("I own a {}", "I bought a {}"), ("{n} owns a {}",), ("I sold the {}", "I sold my {}")),
        "uses": ("tool", ("I use {}",), ("{n} uses {}",), ("I don't use {} anymore", "I stopped using {}")),
        "speaks": ("language", ("I speak {}",), ("{n} speaks {}",), ()),
    },
    "zh": {
        "lives_in": ("place", ("我住在{}", "我搬到{}了"), ("{n}住在{}",), ("我不住在{}了", "我已经不住{}了")),
        "works_at": ("org", ("我在{}工作", "我在{}上班"), ("{n}在{}工作",), ("我从{}离职了", "我不在{}工作了")),
        "likes": ("food", ("我喜欢{}", "我很喜欢{}"), ("{n}喜欢{}",), ("我不再喜欢{}了", "我不喜欢{}了")),
        "owns": ("thing", ("我买了{}", "我有一台{}"), ("{n}买了{}",), ("我把{}卖了",)),
        "uses": ("tool", ("我用{}", "我在用{}"), ("{n}用{}",), ("我不用{}了", "我不再使用{}了")),
        "speaks": ("language", ("我会说{}",), ("{n}会说{}",), ()),
    },
}  # fmt: skip
# How a caller who knows the triple may spell its predicate: as it holds, and as it holds no more.
STATED: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "en": {
        "lives_in": (("lives in", "LIVES_IN", "resides in"), ("no longer lives in", "moved away from")),
        "works_at": (("works at", "worksAt", "works for"), ("no longer works at", "resigned from")),
        "likes": (("likes", "loves"), ("no longer likes", "stopped liking")),
        "owns": (("owns", "has"), ("sold", "no longer owns")),
        "uses": (("uses", "is using"), ("stopped using", "does not use")),
        "speaks": (("speaks",), ("no longer speaks",)),
    },
    "zh": {
        "lives_in": (("住在", "居住在"), ("不再住在", "搬离")),
        "works_at": (("就职于", "任职于"), ("离职于", "不再就职于")),
        "likes": (("喜欢", "喜爱"), ("不再喜欢", "不喜欢")),
        "owns": (("拥有", "有"), ("卖了", "不再拥有")),
        "uses": (("使用", "用"), ("不再使用", "弃用")),
        "speaks": (("会说",), ("不会说",)),
    },
}  # fmt: skip
SINGLE = ("lives_in", "works_at")
MANY = ("likes", "owns", "uses", "speaks")
STOP = {"en": ".", "zh": "。"}
AND = {"en": " and ", "zh": "，"}


class Teller:
    """Makes one story; every choice comes from its seed."""

    def __init__(self, kind: str, language: str, way: str, number: int) -> None:
        self.story = Story(kind, language, way, number)
        self.random = random.Random(f"{SEED} {kind} {language} {way} {number}")
        self.language = language
        self.pools = {name: self.random.sample(pool, len(pool)) for name, pool in POOLS[language].items()}

    def value(self, predicate: str) -> str:
        """A value that this story has not used."""
        return self.pools[SAY[self.language][predicate][0]].pop()

    def say(self, predicate: str, value: str, *, who: str | None = None, ends: bool = False) -> Saying:
        _, own, others, endings = SAY[self.language][predicate]
        frames = endings if ends else own if who is None else others
        text = self.random.choice(frames).replace("{n}", who or "").replace("{}", value)
        return text, Triple(who or "user", predicate, value), not ends

    def tell(self, *sayings: Saying) -> None:
        joint = AND[self.language] if len(sayings) > 1 else ""
        self.story.told.append(Told(sayings, joint))

    def hold(self, *sayings: Saying) -> None:
        """What holds at the end."""
        for _, triple, affirmed in sayings:
            (self.story.active if affirmed else self.story.denied).add(key(triple))

    def past(self, *sayings: Saying) -> None:
        """What was replaced."""
        self.story.superseded += [key(triple) for _, triple, _ in sayings]

    def siblings(self, count: int, but: tuple[str, ...] = ()) -> None:
        """Facts beside the change: other predicates of the speaker, the same ones of somebody else."""
        for _ in range(count):
            if self.random.random() < 0.5:
                predicate = self.random.choice([p for p in MANY if p not in but])
                saying = self.say(predicate, self.value(predicate))
            else:
                predicate = self.random.choice(SINGLE)
                saying = self.say(predicate, self.value(predicate), who=self.pools["person"].pop())
            self.tell(saying)
            self.hold(saying)


def key(triple: Triple) -> tuple[str, str, str]:
    claim = claim_of("", triple)
    assert claim is not None
    return claim.subject, claim.predicate, claim.object


def supersession(t: Teller) -> None:
    predicate = t.random.choice(SINGLE)
    old, new = t.say(predicate, t.value(predicate)), t.say(predicate, t.value(predicate))
    t.siblings(1)
    t.tell(old)
    t.siblings(1)
    t.tell(new)
    t.siblings(1)
    t.past(old)
    t.hold(new)


def compound(t: Teller) -> None:
    other = t.random.choice(("owns", "uses", "likes"))
    home, thing = t.say("lives_in", t.value("lives_in")), t.value(other)
    had = t.say(other, thing)
    t.tell(home)
    t.tell(had)
    t.siblings(2, but=(other,))
    moved, ended = t.say("lives_in", t.value("lives_in")), t.say(other, thing, ends=True)
    t.tell(moved, (ended[0].removeprefix("I ") if t.language == "en" and ended[0].startswith("I sold") else ended[0],
                   *ended[1:]))  # fmt: skip
    t.past(home, had)
    t.hold(moved, ended)


def release(t: Teller) -> None:
    predicate = t.random.choice(("lives_in", "works_at", "likes", "owns", "uses"))
    value = t.value(predicate)
    had, ended = t.say(predicate, value), t.say(predicate, value, ends=True)
    t.siblings(1, but=(predicate,))
    t.tell(had)
    t.siblings(1, but=(predicate,))
    t.tell(ended)
    t.past(had)
    t.hold(ended)


def purge(t: Teller) -> None:
    predicate = t.random.choice((*SINGLE, *MANY))
    gone = t.say(predicate, t.value(predicate))
    t.siblings(2)
    t.tell(gone)
    t.siblings(1)
    t.story.erase = gone[1]


def drift(t: Teller) -> None:
    predicate = t.random.choice(SINGLE)
    steps = [t.say(predicate, t.value(predicate)) for _ in range(t.random.randint(3, 5))]
    for step in steps:
        t.tell(step)
        t.siblings(t.random.randint(0, 1))
    t.past(*steps[:-1])
    t.hold(steps[-1])


def alias(t: Teller) -> None:
    one, other = t.pools["person"].pop(), t.pools["person"].pop()
    t.story.alias = (one, other)
    predicate = t.random.choice(SINGLE)
    old, new = t.say(predicate, t.value(predicate), who=one), t.say(predicate, t.value(predicate), who=other)
    t.siblings(1)
    t.tell(old)
    t.siblings(1)
    t.tell(new)
    t.past(old)
    t.hold(new)


def negated(t: Teller) -> None:
    """Not this but that: the denial ends the one, the affirmation is the other."""
    predicate = t.random.choice(SINGLE)
    value = t.value(predicate)
    old, denial = t.say(predicate, value), t.say(predicate, value, ends=True)
    new = t.say(predicate, t.value(predicate))
    t.tell(old)
    t.siblings(2)
    t.tell(denial)
    t.tell(new)
    t.past(old)
    t.hold(denial, new)


def near_miss(t: Teller) -> None:
    """Much alike, and no conflict: another subject, another predicate, or one more of many."""
    value = t.value("lives_in")
    who = t.pools["person"].pop()
    home = t.say("lives_in", value)
    theirs = t.say("lives_in", t.value("lives_in"), who=who)
    many = t.random.choice(MANY)
    first, second = t.say(many, t.value(many)), t.say(many, t.value(many))
    sayings = [home, theirs, first, second]
    if t.random.random() < 0.5:  # somebody else ends what the speaker has
        same = t.value("uses")
        sayings += [t.say("uses", same), t.say("uses", same, who=who)]
    for saying in sayings:
        t.tell(saying)
    t.hold(*sayings)


def unrelated(t: Teller) -> None:
    predicate = t.random.choice(MANY)
    value = t.value(predicate)
    t.siblings(3, but=(predicate,))
    had = t.say(predicate, value)
    t.tell(had)
    work = t.say("works_at", t.value("works_at"))
    t.tell(work)
    t.siblings(2, but=(predicate,))
    t.hold(had, work)


TELLERS: dict[str, Callable[[Teller], None]] = dict(
    zip(KINDS, (supersession, compound, release, purge, drift, alias, negated, near_miss, unrelated), strict=True)
)


def stories(kind: str, language: str, way: str, count: int) -> Iterator[Story]:
    for number in range(count):
        teller = Teller(kind, language, way, number)
        TELLERS[kind](teller)
        yield teller.story


# ---------------------------------------------------------------------- living a story


def live(story: Story, memory: AgentMemory, clock: ManualClock) -> Scope:
    """Tell a story to a scope of its own."""
    scope = memory.scope(user=f"{story.kind} {story.language} {story.way} {story.number}")
    chat = scope.session("talk")
    if story.alias is not None:
        scope.graph.alias(*story.alias)
    for told in story.told:
        clock.advance(hours=1)
        if story.way == "talked":
            chat.add_messages([{"role": "user", "content": told.text + STOP[story.language]}])
        else:
            for place, (text, triple, affirmed) in enumerate(told.sayings):
                words = STATED[story.language][triple.predicate][0 if affirmed else 1]
                spelled = words[(story.number + place) % len(words)]
                scope.add(text, triple=triple._replace(predicate=spelled))
    if story.erase is not None:
        clock.advance(hours=1)
        for record, claim in facts(scope):
            if (claim.subject, claim.predicate, claim.object) == key(story.erase):
                if story.way == "talked":  # the message goes, and what was read from it
                    chat.delete_messages([s["message_id"] for s in scope.sources(record.id) if s["message_id"]])
                else:
                    scope.delete(record.id)
    return scope


def facts(scope: Scope, status: Status = Status.ACTIVE) -> list[tuple[Record, Claim]]:
    found = []
    for record in scope.list(kinds=["fact"], where={"status": status.value}):
        claim = claim_of(record.text, record.triple, polarity=record.polarity)
        if record.triple is not None and claim is not None:
            found.append((record, claim))
    return found


def wrong(story: Story, scope: Scope) -> str | None:
    """What is not as the story says; None if all is."""
    now = [(claim.subject, claim.predicate, claim.object, claim.polarity) for _, claim in facts(scope)]
    affirmed = [parts[:3] for parts in now if parts[3]]
    if len(affirmed) != len(set(affirmed)) or set(affirmed) != story.active:
        return f"holds {sorted(set(affirmed) - story.active)} too much, misses {sorted(story.active - set(affirmed))}"
    denied = {parts[:3] for parts in now if not parts[3]}
    if denied != story.denied:
        return f"denies {sorted(denied)}, not {sorted(story.denied)}"
    past = facts(scope, Status.SUPERSEDED)
    if sorted((c.subject, c.predicate, c.object) for _, c in past) != sorted(story.superseded):
        return f"past {[(c.subject, c.predicate, c.object) for _, c in past]}, not {story.superseded}"
    for record, _ in past:
        if record.superseded_by is None or record.valid_until is None or scope.get(record.superseded_by) is None:
            return f"{record.text!r} is superseded without a link or an end"
        if not any(change.action == "superseded" for change in scope.history(record.id)):
            return f"the history of {record.text!r} does not tell"
    return None
