"""Sentences, and what marks one as worth keeping: names, numbers, dates, decisions, preferences, promises.

Pure functions of a text, for Chinese and English alike. They stand in for a model where there is
none, so they judge by the words themselves: a cue is evidence, never proof.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import IntFlag
from typing import Any

from shared_core.memo import of_texts
from shared_core.recall.text import clean

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
LONGEST = 160
"""Characters of a sentence as it is kept; a longer one is cut to the clauses that hold its cues."""


class Pattern:
    """A pattern that is compiled at its first use: all of them take 50 ms, which an import should not cost anybody."""

    search: Callable[[str], re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    finditer: Callable[[str], Iterator[re.Match[str]]]
    split: Callable[[str], list[str]]
    sub: Callable[[str, str], str]

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in Pattern.__annotations__:
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for verb in Pattern.__annotations__:
            setattr(self, verb, getattr(compiled, verb))
        return getattr(compiled, name)


_END = Pattern(
    r"(?<=[。！？；…])(?P<han>[”’」』）)]*)\s*"
    r"|(?<=[.!?])(?P<latin>[\"')\]]*)(?:\s+(?=[\"'(\[]?[A-Z0-9])|\s+(?=[^\x00-\x7f]))"
    r"|;\s+|\s*[\r\n]+\s*"
)
_ABBREVIATED = Pattern(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|No|Nr|approx|e\.g|i\.e|a\.m|p\.m)|\b[A-Z])\.$")
_CLAUSE = Pattern(r"(?<=[,，、:：])\s*|\s+(?:—|–|-{2})\s+")
_BULLET = Pattern(r"^[\s>]*(?:[-*•·]|\d{1,2}[.)、])\s+")


class Cue(IntFlag):
    """What a sentence holds."""

    NOTHING = 0
    NAME = 1
    NUMBER = 2
    DATE = 4
    DECISION = 8
    PREFERENCE = 16
    CONSTRAINT = 32  # what must be, or must not be
    SELF = 64  # who the speaker is
    PENDING = 128  # what is still to be done
    PROMISE = 256  # what the speaker will do
    RESULT = 512  # what was done, or went wrong
    QUESTION = 1024
    REQUEST = 2048
    REMEMBER = 4096  # somebody asked to have it remembered


def _words(english: str, chinese: str) -> Pattern:
    return Pattern(rf"(?<![A-Za-z])(?:{english})(?![A-Za-z])|{chinese}", re.IGNORECASE)


_DECISION = _words(
    r"decid(?:ed?|es|ing)|decisions?|agreed?(?: (?:on|to|that)|[:,.!]|$)|settled? on|chose|chosen|we(?:'ll| will| shall) (?:use|go with|take|keep)"
    r"|go(?:ing)? with|let'?s (?:use|go with|take|keep|do)|opted?(?: for)?|confirmed|approved|final(?:ised|ized)"
    r"|switch(?:ed|ing)? to|instead of|ruled out|sign(?:ed)? off on|i(?:'ll| will) take",
    r"决定|确定(?:用|采用|选|为|了|下来)|选择了?|选定|选用|采用|改用|敲定|定下来?|定为|商定|约定|同意|批准|拍板|就用|就选|换成|改成|不用[^了吗]{1,8}改",
)
_PREFERENCE = _words(
    r"prefer(?:s|red|ence|ences|ably)?|favou?rites?|i (?:really |also |just )?(?:like|love|enjoy|hate|dislike|can'?t stand)"
    r"|(?:do not|don'?t|doesn'?t) like|likes|loves|hates|allergic|vegan|vegetarian|rather (?:have|use|not)|fond of",
    r"喜欢|喜爱|偏好|偏爱|更想|更愿意|讨厌|不爱|最爱|过敏|吃素|素食|习惯用|习惯了?",
)
_CONSTRAINT = _words(
    r"must(?:n'?t)?|never|always|(?:do not|don'?t|can'?t|cannot|mustn'?t|should(?:n'?t| not| never)?)(?! (?:like|know|think|mind|worry|remember|care))"
    r"|have to|need(?:s)? to be|required?|requirements?|at (?:most|least)|no (?:more|less|fewer|later|earlier) than|up to|maximum|minimum"
    r"|only (?:use|in|on|for|with|after|before|when|if|answer|reply|write)|under \D{0,3}\d|over \D{0,3}\d|avoid|without|make sure|ensure|limit(?:ed)? to|budget|deadline",
    r"必须|务必|一定要|不要|别再|不能|不得|不可以|不许|禁止|切勿|千万|只能|只用|只要|至少|最多|不超过|不少于|不低于|不高于|以内|以上|避免|确保|要求|预算|截止|限制|限于|始终|总是|永远",
)
_SELF = _words(
    r"my (?:full |last |first |nick)?name(?:'s| is)|call me|i am called|i live in|i work (?:at|for|as|in)|i'?m (?:from|based)|i moved to|i was born"
    r"|i am an?|i'm an? |my (?:wife|husband|partner|son|daughter|sister|brother|mother|father|boss|manager|team|company|birthday|phone|email"
    r"|e-mail|address|job|dog|cat|username|account|password)",
    r"我叫|我姓|我的名字|名字是|我是(?!说|想|不是|指|觉得|在)|我住|我来自|我在[^，。？！]{1,12}(?:工作|上班|读书|上学|任职)|我搬|我生于"
    r"|我(?:的)?(?:妻子|老婆|丈夫|老公|儿子|女儿|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|父亲|母亲|老板|经理|团队|公司|生日|电话|手机|邮箱|地址|工作|用户名|账号|密码)",
)
_PENDING = _words(
    r"to-?do|still (?:need|have|must|to|open|missing|waiting|unclear)|need(?:s)? to|next steps?|pending|follow(?:-| )?up|remind|waiting for"
    r"|not (?:yet|done|finished|decided)|remains? (?:open|to)|outstanding|open (?:question|issue|point)s?|unresolved|blocked|by (?:monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|next week|the end of|noon|tonight)|due(?: on| by)?",
    r"待办|待定|待确认|还没|尚未|还要|还需要?|还得|需要(?:先|再|在)|下一步|接下来要|提醒我?|等待|等[^，。]{1,10}(?:回复|确认|通知)|未完成|未解决|跟进|(?:之前|以前|前)(?:完成|提交|交付|给|发)",
)
_PROMISE = _words(
    r"i(?:'ll| will| shall|'m going to| am going to| promise(?: to)?)(?! (?:be (?:happy|glad)|need|never know))|let me (?!know)"
    r"|we(?:'ll| will) (?:send|prepare|deliver|check|fix|get back|call|remind|update|let you know)",
    r"我(?:会|将|来|去|马上|稍后|之后|待会|这就|保证|答应|承诺|负责)(?!不)|我们(?:会|将)|稍后(?:给|为|把)|马上(?:给|为|把|就)|回头(?:给|把)|我帮[你您]",
)
_RESULT = _words(
    r"done|finished|completed?|created|fixed|solved|resolved|deployed|installed|merged|sent|booked|ordered|paid|uploaded|published|updated"
    r"|found|passed|failed|failure|errors?|exceptions?|results?|succeeded|successful(?:ly)?|works now|cancell?ed|delivered|returned",
    r"完成|做好|搞定|已经?[^，。]{0,8}(?:了|好)|创建了|修复|解决|部署|安装好|合并|发送|订好|预订|付款|上传|发布|更新了|找到|通过了?|失败|报错|错误|异常|结果|成功|取消了",
)
_REMEMBER = _words(
    r"remember(?: that)?|don'?t forget|keep in mind|note (?:that|down)|for the record|important(?:ly)?|fyi",
    r"记住|记得|别忘|不要忘|记下|记一下|重要|注意",
)
_REQUEST = _words(
    r"please|(?:can|could|would|will) you|help me|show me|tell me|give me|write|i(?:'d| would) like(?: you)? to|i want(?: you)? to|i need (?:you|a|an|the|to|some)"
    r"|explain|find|make|create|build|fix|add|remove|change|translate|summari[sz]e|compare|plan|book|recommend|let'?s",
    r"请|帮我|帮忙|麻烦|能不能|能否|可以帮|可不可以|给我|告诉我|我想|我要|我需要|写一|做一|改一|查一|找一|推荐|解释|翻译|总结|比较|计划|安排|怎么|如何",
)
_QUESTION = Pattern(
    r"[?？]\s*[\"”)）]*$|(?:吗|呢|么)[。！]?$|^(?:what|who|when|where|why|how|which|is|are|do|does|did|can|could|would|should)\b[^.]*\?",
    re.IGNORECASE,
)
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DATE = Pattern(
    rf"\b\d{{4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,2}})?\b|\b\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b"
    rf"|\b{_MONTH}\.? \d{{1,2}}\b|\b{_MONTH} \d{{4}}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:tomorrow|tonight)\b|\bnext (?:week|month|year)\b"
    r"|\b\d{1,2}:\d{2}\b|\b\d{1,2} ?(?:am|pm)\b"
    r"|[0-9〇零一二两三四五六七八九十]{1,4}\s*(?:年|月|日|号)(?!码)|(?:周|星期|礼拜)[一二三四五六日天末]|明天|后天|今晚|下(?:个)?(?:周|月|星期|礼拜)|明年"
    r"|[0-9一二两三四五六七八九十]{1,3}点(?:半|钟|[0-9一二三四五六七八九十]{1,3}分)?(?!都|也|儿)",
    re.IGNORECASE,
)
_NUMBER = Pattern(
    r"\d|[一二两三四五六七八九十百千万亿]{1,6}(?:个|元|块|万|亿|人|次|台|套|公里|千米|米|斤|公斤|岁|小时|分钟|天|周|页|章|条|份|倍|％|%)"
)
_IN_QUOTES = Pattern(r"《[^》\n]{1,40}》|“[^”\n]{1,30}”|「[^」\n]{1,30}」|\"[^\"\n]{2,40}\"")
_ENDINGS = (
    "py|js|ts|md|txt|pdf|docx?|xlsx?|csv|json|ya?ml|toml|sql|html?|go|rs|java|c|cpp|sh|png|jpe?g|zip|ipynb|log|pptx?"
)
_LINK = Pattern(
    r"https?://[^\s，。；、！？）》”\"'<>]+"
    rf"|(?<![\w./-])(?:[A-Za-z0-9_.-]+/)*(?:[A-Za-z0-9_-]+|[{HAN}]{{1,20}})\.(?:{_ENDINGS})\b"
    rf"|(?<=[{HAN}])(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:{_ENDINGS})\b"
)
_CAPITAL = r"[A-Z][\w'’&.-]*[\w+#]|[A-Z]{2,}"
_NAMES = Pattern(rf"\b(?:{_CAPITAL})(?: (?:of |the |de |van |von )?(?:{_CAPITAL}|[A-Z]\b|\d+(?:\.\d+)*))*")
_LATIN_IN_HAN = Pattern(rf"(?<=[{HAN}，。、：]) ?([A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#]) ?(?=[{HAN}，。、！？；]|$)")
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
_PERSON = Pattern(
    rf"(?:(?<=^)|(?<=[叫姓和跟与给找由让请是、，。：；的])|(?<=名字是))"
    rf"([{_SURNAMES}][{HAN}]{{1,2}}?)(?=负责|说|是|在|和|与|、|，|。|；|！|？|会|将|来|去|住|喜欢|要|想|的|也|已|把|从|同意|决定|建议|$)"
    rf"|([{_SURNAMES}][{HAN}]{{0,2}}?(?:先生|女士|老师|经理|总监|主任|教授|医生|工程师|同学|律师|老板|总))"
)
# What follows a name that begins a sentence: after "Plan" and "Book" there is no verb.
_VERB = Pattern(r"(?:['’]s\b)?,? (?:is|was|has|had|will|would|can|and|or|from|said|told|asked|of|\w{2,}(?:s|ed))\b")
_NO_PERSON = frozenset(
    "方便 高兴 高级 高度 高速 安全 安排 安装 安静 白天 白色 白菜 白酒 黄色 黄金 金额 金融 "
    "金色 石头 石油 程序 程度 万一 万元 万能 常用 常见 常常 常规 何时 何必 任务 任何 马上 "
    "马路 方法 方案 方面 方式 方向 方才 于是 文件 文档 文字 文章 文化 夏天 夏季 段落 钱包 "
    "顾客 顾问 许多 许可 周一 周二 周三 周四 周五 周六 周日 周末 江湖 康复 雷达 龙虾 孔雀 "
    "贺卡 武器 田地 余额 余下 黎明 范围".split()
)
_CALLED = Pattern(rf"(?:叫做?|名叫|名字是|姓名[:：是])\s*([{HAN}]{{2,4}}?|[A-Za-z]+)(?=[，。；！？、\s]|$|的|，|和)")
_COMMON = frozenset(
    """a about actually after again all also although always an and another any anyway are as ask at be because been
    before best both but by call can could did do does done don't each either email error even every everything few
    find finally first fix for from get give go good great had happy has have he hello help her here hey hi his how
    however i i'd i'll i'm i've if important in instead is it it's its just keep last later let let's like look make
    many maybe me meanwhile more most much must my need never new next nice no nobody not note nothing now of oh ok
    okay on once one only open or other our out over perhaps please put question read really remember result right
    run say second see send set she should show since so some something sorry start still story stop such sure take
    tell thank thanks that that's the their them then there there's these they thing this those though three time to
    today tool tomorrow tonight too try two under unfortunately until up update us use user very want was we we'd
    we'll we're we've well were what what's when where which while who why will with without work would write yes
    yesterday yet you you're your assistant system monday tuesday wednesday thursday friday saturday sunday january
    february march april may june july august september october november december answer quick absolutely glad
    interesting indeed correct exactly decided agreed done created finished completed fixed according based given
    talk filler chat hmm well-known everyone someone anyone nobody people things part number line turn round""".split()
)


def split(text: str) -> list[str]:
    """The sentences of a text, in order, without bullets and blanks.

    >>> split("Dr. Wu pays 3.50 euros. 我住在杭州。你呢？")
    ['Dr. Wu pays 3.50 euros.', '我住在杭州。', '你呢？']
    """
    found: list[str] = []
    text, start = clean(text), 0
    for end in [*_END.finditer(text), None]:
        closing = "" if end is None else end["han"] or end["latin"] or ""
        piece = _BULLET.sub("", text[start : None if end is None else end.start()] + closing).strip()
        start = len(text) if end is None else end.end()
        if not piece:
            continue
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += " " + piece
        else:
            found.append(piece)
    return found


_PLAIN_CUES = (
    (Cue.DATE, _DATE), (Cue.NUMBER, _NUMBER), (Cue.DECISION, _DECISION), (Cue.PREFERENCE, _PREFERENCE),
    (Cue.CONSTRAINT, _CONSTRAINT), (Cue.SELF, _SELF), (Cue.PENDING, _PENDING), (Cue.PROMISE, _PROMISE),
    (Cue.RESULT, _RESULT), (Cue.REMEMBER, _REMEMBER), (Cue.REQUEST, _REQUEST), (Cue.QUESTION, _QUESTION),
)  # fmt: skip


@of_texts(4_096)
def cues(sentence: str) -> Cue:
    """What a sentence holds.

    >>> Cue.DECISION in cues("We decided to use PostgreSQL"), Cue.DECISION in cues("我们决定用PostgreSQL")
    (True, True)
    >>> Cue.NUMBER in cues("nothing to see"), Cue.DATE in cues("截止日期是3月14日")
    (False, True)
    """
    found = Cue.NOTHING
    for cue, pattern in _PLAIN_CUES:
        if pattern.search(sentence):
            found |= cue
    if Cue.QUESTION not in found or found & (Cue.NUMBER | Cue.DATE):
        found |= Cue.NAME if names(sentence) else Cue.NOTHING
    return found


def names(sentence: str) -> list[str]:
    """People, places, products, titles, links and files that a sentence names, in order, each once.

    English names are known by their capitals, Chinese people by surname and what stands around it;
    what is neither is not seen.

    >>> names("Tomorrow Anna Berg meets us in Oslo about report.pdf")
    ['Anna Berg', 'Oslo', 'report.pdf']
    >>> names("张伟负责后端，用Redis做缓存，参考《设计模式》")
    ['张伟', 'Redis', '《设计模式》']
    """
    found: list[tuple[int, str]] = [(hit.start(), hit[0]) for hit in _LINK.finditer(sentence)]
    taken = [(hit.start(), hit.end()) for hit in _LINK.finditer(sentence)]
    for hit in _IN_QUOTES.finditer(sentence):
        found.append((hit.start(), hit[0]))
    for hit in _NAMES.finditer(sentence):
        name = _named(hit[0])
        if name and hit[0] == name and " " not in name and not hit.start() and not _starts(sentence, hit.end()):
            continue
        if name and not any(start <= hit.start() < end for start, end in taken):
            found.append((hit.start() + hit[0].find(name), name))
    for pattern in (_LATIN_IN_HAN, _PERSON, _CALLED) if not sentence.isascii() else ():
        for hit in pattern.finditer(sentence):
            place = next(group for group in range(1, len(hit.groups()) + 1) if hit[group])
            if hit[place] not in _NO_PERSON:
                found.append((hit.start(place), hit[place]))
    return list(dict.fromkeys(name for _, name in sorted(found)))


def _starts(sentence: str, end: int) -> bool:
    """Whether the capitalised word that begins a sentence may be a name: by its form, or by what follows it."""
    word = sentence[:end]
    return not word.isalpha() or not word[1:].islower() or _VERB.match(sentence, end) is not None


def _named(text: str) -> str:
    """A row of capitalised words without those that are capitalised only because they begin a sentence."""
    words = text.split(" ")
    while words and words[0].casefold().strip(".'’") in _COMMON:
        words.pop(0)
    while words and words[-1].casefold().strip(".'’") in _COMMON:
        words.pop()
    name = " ".join(words).rstrip(".'’-")
    for ending in ("'s", "’s"):
        name = name.removesuffix(ending)
    return name if len(name) > 1 and name[:1].isupper() and name.casefold() not in _COMMON else ""


def tight(sentence: str, most: int = LONGEST) -> str:
    """A sentence within `most` characters: the clauses with cues before the others, else its beginning.

    >>> tight("Well you see it is a long story, but the budget is 4200 euros", 40)
    '… but the budget is 4200 euros'
    """
    if len(sentence) <= most:
        return sentence
    clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
    weights = [bin(cues(clause) & ~(Cue.QUESTION | Cue.REQUEST)).count("1") for clause in clauses]
    kept: set[int] = set()
    room = most - 2
    for place in sorted(range(len(clauses)), key=lambda place: (-weights[place], place)):
        if len(clauses[place]) + 1 <= room and weights[place]:
            kept.add(place)
            room -= len(clauses[place]) + 1
    if not kept:
        return sentence[: most - 1].rstrip() + "…"
    spaced = " " if sentence.isascii() else ""
    text = spaced.join(clauses[place].strip() for place in sorted(kept))
    return ("" if 0 in kept else "… " if spaced else "…") + text.strip().rstrip(",，、")
