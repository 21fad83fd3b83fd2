"""What predicates mean: which words, in both languages, say the same relation, and in which direction.

A table, not a model: a predicate that is not in it means itself. Used by rules ("使用" fires a rule
about `uses`), by questions, and by the filter of `neighbours`; the words that were told are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from shared_core.long_term.graph.inference import Clause, parse
from shared_core.long_term.graph.names import has_unspaced, predicate_key, stem


@dataclass(frozen=True, slots=True)
class Meaning:
    """One relation and the words for it, each a phrase; "|" separates them.

    `verbs` say "subject verb object", `inverse` the other way round. `gives` are nouns for what a
    subject has ("the employer of Ann"), `given` nouns for the subject, seen from the object ("an
    employee of ACME").
    """

    name: str
    verbs: str
    inverse: str = ""
    gives: str = ""
    given: str = ""
    symmetric: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """How words say a relation: `turned` if their subject is the relation's object."""

    meaning: str
    turned: bool = False


# Only words that can stand for each other go together: who asks for the author must not get the
# designer, nor for a sister the brother.
MEANINGS = (
    Meaning(
        "is_a",
        "is a|is an|is|are|isa|instance of|is instance of|kind of|is a kind of|is kind of|type of|is a type of|"
        "type|category|subclass of|是|是一种|是一个|是一名|是一位|属于一种|是个|类型|类别",
    ),
    Meaning(
        "uses",
        "use|make use of|utilize|utilise|run on|adopt|build with|build on|power by|使用|采用|用|运用|利用|用到|选用",
        inverse="use by|adopt by|utilize by",
    ),
    Meaning("depends_on", "depend on|depend upon|rely on|require|need|依赖|依赖于|需要", inverse="need by|require by"),
    Meaning(
        "part_of",
        "part of|be part of|is part of|component of|module of|隶属于|隶属|是一部分|组成部分",
        inverse="consist of|contain|include|comprise|包含|包括|由组成",
        given="part|component|组成部分|组件",
    ),
    Meaning(
        "works_at",
        "work at|work for|work in|work|employ by|employ at|have job at|job at|"
        "就职|就职于|任职|任职于|供职|供职于|工作|工作于|上班|受雇|受雇于",
        inverse="employ|hire|雇|雇用|雇佣|聘用|聘请",
        gives="employer|workplace|company|雇主|工作单位|单位|公司",
        given="employee|staff|worker|member of staff|员工|雇员|职员|职工",
    ),
    Meaning("works_on", "work on|从事"),
    Meaning("develops", "develop|开发|研发|负责开发", inverse="develop by", given="developer|开发者"),
    Meaning("maintains", "maintain|维护", inverse="maintain by", given="maintainer|维护者"),
    Meaning(
        "lives_in",
        "live in|live at|live|reside in|reside at|reside|dwell in|住|住在|居住|居住在|居住于|定居|定居在|生活|生活在",
        gives="home|residence|住处|住所|居住地",
        given="resident|inhabitant|居民",
    ),
    Meaning("born_in", "bear in|born in|born at|born|出生|出生于|出生在|生于", gives="birthplace|出生地"),
    Meaning(
        "located_in",
        "locate in|locate at|locate|situate in|base in|be in|is in|headquarter in|in|"
        "位于|坐落|坐落于|坐落在|在|地处|总部位于|总部在",
        gives="location|headquarters|所在地|位置|地点|总部",
    ),
    Meaning(
        "founded",
        "found|establish|start company|set up|创立|创办|创建|成立|建立",
        inverse="found by|establish by",
        given="founder|co-founder|创始人|创办人|创立者",
    ),
    Meaning(
        "made", "make|create|produce|制作|创作|制造|生产", inverse="make by|create by|produce by",
        given="maker|creator|制造商|制作者",
    ),
    Meaning("built", "build|建造|搭建", inverse="build by", given="builder|建造者"),
    Meaning("wrote", "write|编写|撰写|写", inverse="write by", given="author|writer|作者"),
    Meaning("designed", "design|设计", inverse="design by", given="designer|设计者|设计师"),
    Meaning("invented", "invent|发明", inverse="invent by", given="inventor|发明者|发明人"),
    Meaning(
        "manages",
        "manage|lead|head|supervise|oversee|boss of|管理|领导|主管|负责|带领|主持",
        inverse="report to|manage by|lead by|supervise by|head by|汇报给|向汇报|归管",
        given="boss|manager|leader|supervisor|head|lead|老板|上司|经理|领导|主管|负责人|上级",
    ),
    Meaning("owns", "own|possess|拥有|持有", inverse="own by", given="owner|主人|所有者|拥有者"),
    Meaning("belongs_to", "belong to|属于|归属|归属于"),
    Meaning("member_of", "member of|be member of|join|加入|是成员", given="member|成员|会员|队员"),
    Meaning("likes", "like|love|enjoy|be fond of|adore|喜欢|爱|喜爱|热爱|爱好|钟爱", gives="hobby|爱好"),
    Meaning("prefers", "prefer|更喜欢|偏爱", gives="preference|偏好"),
    Meaning("dislikes", "dislike|hate|detest|讨厌|厌恶|不喜欢|反感"),
    Meaning("knows", "know|be acquainted with|认识"),
    Meaning("speaks", "speak|会说|会讲"),
    Meaning("studies_at", "study at|go to school at|enrol at|就读|就读于|上学|读书", gives="school|学校"),
    Meaning("studies", "study|learn|学习|学|攻读"),
    Meaning("teaches", "teach|教|教授|讲授", inverse="teach by", given="teacher|老师|教师"),
    Meaning(
        "married_to", "marry|marry to|be marry to|marriage to|结婚|和结婚", gives="spouse|配偶|爱人", symmetric=True
    ),
    Meaning("husband", "", gives="husband|丈夫|老公"),
    Meaning("wife", "", gives="wife|妻子|老婆|太太"),
    Meaning("friend_of", "friend of|be friend with|friend with|是朋友", gives="friend|朋友|好友", symmetric=True),
    Meaning("sibling_of", "", gives="sibling|兄弟姐妹", symmetric=True),
    Meaning("colleague_of", "work with", gives="colleague|coworker|同事", symmetric=True),
    Meaning("parent_of", "raise", gives="child|kid|孩子|子女", given="parent|父母"),
    Meaning("mother", "", gives="mother|mum|mom|母亲|妈妈|妈"),
    Meaning("father", "", gives="father|dad|父亲|爸爸|爸"),
    Meaning("sister", "", gives="sister|姐妹|姐姐|妹妹|姐|妹"),
    Meaning("brother", "", gives="brother|兄弟|哥哥|弟弟|哥|弟"),
    Meaning("son", "", gives="son|儿子"),
    Meaning("daughter", "", gives="daughter|女儿"),
    Meaning("partner", "", gives="partner|对象|伴侣|爱人"),
    Meaning("girlfriend", "", gives="girlfriend|女朋友|女友"),
    Meaning("boyfriend", "", gives="boyfriend|男朋友|男友"),
    Meaning("fiance", "", gives="fiance|未婚妻|未婚夫"),
    Meaning("grandmother", "", gives="grandmother|grandma|奶奶|外婆|姥姥|祖母"),
    Meaning("grandfather", "", gives="grandfather|grandpa|爷爷|外公|姥爷|祖父"),
    Meaning("uncle", "", gives="uncle|叔叔|舅舅|伯伯"),
    Meaning("aunt", "", gives="aunt|姑姑|阿姨|舅妈"),
    Meaning("cousin", "", gives="cousin|表哥|表弟|表姐|表妹|堂哥|堂弟|堂姐|堂妹"),
    Meaning("nephew", "", gives="nephew|侄子|外甥"),
    Meaning("niece", "", gives="niece|侄女|外甥女"),
    Meaning("roommate", "", gives="roommate|flatmate|室友|舍友"),
    Meaning("neighbour", "", gives="neighbour|neighbor|邻居"),
    Meaning("causes", "cause|lead to|result in|导致|引起|造成", inverse="cause by|result from", given="cause|原因"),
)  # fmt: skip

SYMMETRIC = frozenset(meaning.name for meaning in MEANINGS if meaning.symmetric)

# In both languages, since predicates of both mean the same. Few, and none that is only likely: a
# user who lives in a city of a country lives in that country; who knows a person knows no friends of hers.
BUILTIN = {
    "kinds of kinds": "is_a(A, B) & is_a(B, C) => is_a(A, C)",
    "using a kind": "uses(A, B) & is_a(B, C) => uses(A, C)",
    "parts of parts": "part_of(A, B) & part_of(B, C) => part_of(A, C)",
    "needs of needs": "depends_on(A, B) & depends_on(B, C) => depends_on(A, C)",
    "places in places": "located_in(A, B) & located_in(B, C) => located_in(A, C)",
    "living in a place": "lives_in(A, B) & located_in(B, C) => lives_in(A, C)",
    "working in a part": "works_at(A, B) & part_of(B, C) => works_at(A, C)",
}

_WORD = re.compile(r"[^\W_]+")
_PARTICLES = re.compile(r"^[在被]+|[了着过的于在到给]+$")
# The form a stored predicate takes when it is a verb in the third person or past, by stem alone.
_IRREGULAR = {
    "built": "build", "made": "make", "ran": "run", "wrote": "write", "written": "write", "led": "lead",
    "taught": "teach", "knew": "know", "known": "know", "spoke": "speak", "spoken": "speak", "relies": "rely",
    "born": "born", "has": "have", "had": "have", "was": "is", "were": "are", "been": "be", "children": "child",
    "wives": "wife", "married": "marry", "bosses": "boss", "ppl": "person", "people": "person", "men": "man",
    "women": "woman",
}  # fmt: skip


@lru_cache(maxsize=50_000)
def lemma(word: str) -> str:
    """The stem of a lower-case word, irregular forms included.

    >>> lemma("built") == lemma("builds"), lemma("people") == lemma("persons")
    (True, True)
    """
    return stem(_IRREGULAR.get(word, word))


def lemmas(phrase: str) -> tuple[str, ...]:
    """The stems of a phrase, in order.

    >>> lemmas("works_at")
    ('work', 'at')
    """
    return tuple(lemma(word) for word in _WORD.findall(phrase.lower()))


def bare(phrase: str) -> str:
    """A Chinese verb without the particles that carry no meaning of their own.

    >>> bare("用了"), bare("就职于"), bare("在")
    ('用', '就职', '在')
    """
    return _PARTICLES.sub("", phrase) or phrase


def _split(phrases: str) -> Iterable[str]:
    return filter(None, phrases.split("|"))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The table by words: verbs and nouns, Latin ones by stems, Chinese ones by their characters."""

    verbs: dict[tuple[str, ...], Form]
    nouns: dict[tuple[str, ...], Form]
    spelt: dict[str, Form]  # nouns whose stem is also a verb's: a manager is no "manage"
    chinese_verbs: dict[str, Form]
    chinese_nouns: dict[str, Form]


@cache
def lexicon() -> Lexicon:
    """The table, indexed once."""
    found = Lexicon({}, {}, {}, {}, {})
    for meaning in MEANINGS:
        for phrases, turned, noun in (
            (meaning.verbs, False, False),
            (meaning.inverse, True, False),
            (meaning.gives, False, True),
            (meaning.given, True, True),
        ):
            form = Form(meaning.name, turned)
            for phrase in _split(phrases):
                if has_unspaced(phrase):
                    chinese = found.chinese_nouns if noun else found.chinese_verbs
                    chinese.setdefault(phrase if noun else bare(phrase), form)
                else:
                    (found.nouns if noun else found.verbs).setdefault(lemmas(phrase), form)
        if meaning.verbs:
            found.verbs.setdefault(lemmas(meaning.name), Form(meaning.name))
    _keep_spellings(found)
    return found


def _keep_spellings(found: Lexicon) -> None:
    verbs = {verb for meaning in MEANINGS for verb in _split(f"{meaning.verbs}|{meaning.inverse}")}
    for meaning in MEANINGS:
        for phrases, turned in ((meaning.gives, False), (meaning.given, True)):
            for noun in _split(phrases):
                if lemmas(noun) in found.verbs and noun not in verbs:
                    found.spelt.update({noun: Form(meaning.name, turned), f"{noun}s": Form(meaning.name, turned)})


@lru_cache(maxsize=50_000)
def meaning_of(key: str) -> Form:
    """What a stored predicate means; itself, if it is not in the table.

    >>> meaning_of("works_at"), meaning_of("employs") == Form("works_at", turned=True)
    (Form(meaning='works_at', turned=False), True)
    >>> meaning_of("使用了").meaning, meaning_of("老板") == meaning_of("has_boss") == Form("manages", turned=True)
    ('uses', True)
    >>> meaning_of("boss_of").turned, meaning_of("manager").turned, meaning_of("orbits").meaning
    (False, True, 'orbits')
    """
    table = lexicon()
    if has_unspaced(key):
        word = bare(key.replace("_", ""))
        return table.chinese_verbs.get(word) or table.chinese_nouns.get(word) or Form(key)
    words, noun = lemmas(key), key.removeprefix("has_").removesuffix("_of")
    if noun in table.spelt:
        form = table.spelt[noun]
        return Form(form.meaning, form.turned is not key.endswith("_of"))
    if words in table.verbs:
        return table.verbs[words]
    if len(words) > 1 and words[0] in ("is", "are", "be", "have"):
        inner = words[1:]
        if inner in table.verbs and words[0] != "have":
            return table.verbs[inner]
        words = inner if words[0] == "have" else words
    if words in table.nouns:
        return table.nouns[words]
    if len(words) > 1 and words[-1] == "of" and words[:-1] in table.nouns:
        form = table.nouns[words[:-1]]
        return Form(form.meaning, not form.turned)
    return Form(key)


def compiled(rules: Iterable[tuple[str, str, float]]) -> tuple[Clause, ...]:
    """The built-in rules and the user's as clauses over meanings; an empty text turns one off."""
    chosen = {name: (text, 1.0) for name, text in BUILTIN.items()}
    chosen.update({name: (text, confidence) for name, text, confidence in rules})
    return tuple(clause(name, text, confidence) for name, (text, confidence) in chosen.items() if text)


def clause(name: str, text: str, confidence: float = 1.0) -> Clause:
    """One rule over meanings: "employs(A, B)" becomes "works_at(B, A)"."""
    body, head = parse(text)
    meant = []
    for atom in (*body, head):
        form = meaning_of(predicate_key(atom.predicate))
        subject, object_ = (atom.object, atom.subject) if form.turned else (atom.subject, atom.object)
        meant.append(type(atom)(form.meaning, subject, object_))
    return Clause(name, tuple(meant[:-1]), meant[-1], confidence)
