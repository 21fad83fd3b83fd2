"""A phrase that refers to something: which kind of thing it wants, which one of them, and by whom it was named (A7).

Words of both languages as data, and one reader of them. Pure; what the conversation holds is found by
`short_term.mentioned`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from shared_core.recall.text import terms
from shared_core.writing.extraction import chinese_words, english_words

FILE, URL, FOLDER, EMAIL, ID = "file", "url", "folder", "email", "id"
ERROR, TOOL, ITEM, ENTITY = "error", "tool", "item", "entity"

PERSON: Final = "person"
FEMALE, MALE = "female", "male"

# kind, tag: the words that name it. A capital tag keeps its words: "the contract" is a document of that name.
_NOUNS: Final = {
    (FILE, ""): "file attachment upload 文件 附件",
    (FILE, "document"): "document doc pdf paper 文档 文稿 论文",
    (FILE, "Document"): "report contract letter memo draft summary plan manuscript essay resume cv agenda minutes proposal thesis note notes"
    " 报告 合同 信 备忘录 草稿 摘要 总结文件 简历 议程 纪要 提案 方案书 计划书 笔记 作文 手册",
    (FILE, "table"): "spreadsheet sheet workbook table csv excel dataset 表格 电子表格 数据表 数据集 报表",
    (FILE, "image"): "image picture photo pic screenshot diagram chart logo photos drawing 图片 照片 截图 图表 图像 示意图 图",
    (FILE, "slides"): "slides presentation deck powerpoint ppt 幻灯片 演示文稿 课件",
    (FILE, "code"): "script program notebook source 脚本 程序 代码 源码 源代码",
    (FILE, "video"): "video recording clip movie 视频 录像 影片",
    (FILE, "audio"): "audio song track podcast 音频 录音 歌曲 播客",
    (FILE, "archive"): "archive zip tarball 压缩包 归档",
    (FILE, "config"): "config configuration 配置文件 配置",
    (FILE, "log"): "log logfile 日志",
    (FOLDER, ""): "folder directory 文件夹 目录",
    (URL, ""): "link url website site webpage page homepage 链接 网址 网站 网页 页面 主页",
    (URL, "Page"): "article post tutorial blog 文章 帖子 教程 博客",
    (URL, "repository"): "repo repository 仓库 代码库",
    (EMAIL, ""): "email mailbox address 邮箱 邮件地址 电子邮箱",
    (ID, ""): "id identifier reference 编号 号码 单号",
    (ID, "order"): "order 订单 订单号",
    (ID, "ticket"): "ticket case 工单 工单号",
    (ID, "issue"): "issue bug 缺陷 问题单",
    (ID, "request"): "pr mr 合并请求",
    (ID, "commit"): "commit revision 提交",
    (ID, "invoice"): "invoice bill 发票 账单",
    (ID, "booking"): "booking reservation 预订 预约",
    (ID, "tracking"): "tracking shipment parcel 快递单号 运单号 快递 包裹 运单",
    (ID, "account"): "account 账号 账户",
    (ERROR, ""): "error exception failure traceback errors crash 错误 报错 异常 出错 故障",
    (TOOL, ""): "tool call command result output search query lookup function 工具 调用 命令 结果 输出 搜索 查询",
    (ITEM, ""): "option suggestion idea choice alternative point item step proposal bullet 选项 建议 主意 点子 步骤 条 点 项 方案",
    (ENTITY, PERSON): "person man woman guy girl boy lady someone 人 男人 女人 同事",
    (ENTITY, "project"): "project product app initiative 项目 产品 工程 应用",
    (ENTITY, "company"): "company firm employer organisation organization startup 公司 企业 单位 机构",
    (ENTITY, "team"): "team department group 团队 部门 小组",
    (ENTITY, "place"): "city town place country village restaurant cafe hotel 城市 地方 国家 餐厅 饭店 酒店 咖啡馆 那里 那边",
    (ENTITY, "book"): "book novel 书 小说",
    (ENTITY, "doctor"): "doctor dr 博士 医生 大夫",
    (ENTITY, "professor"): "professor prof 教授",
    (ENTITY, "manager"): "manager 经理 总监",
    (ENTITY, "teacher"): "teacher 老师",
    (ENTITY, "director"): "director 主任",
    (ENTITY, "lawyer"): "lawyer 律师",
}  # fmt: skip
_PAIRS: Final = {
    "pull request": (ID, "request"), "merge request": (ID, "request"), "tracking number": (ID, "tracking"),
    "order number": (ID, "order"), "tool call": (TOOL, ""), "email address": (EMAIL, ""), "mail address": (EMAIL, ""),
    "web page": (URL, ""), "web site": (URL, ""), "config file": (FILE, "config"), "log file": (FILE, "log"),
    "error message": (ERROR, ""),
}  # fmt: skip
_PRONOUNS: Final = {
    "she": FEMALE, "her": FEMALE, "hers": FEMALE, "he": MALE, "him": MALE, "his": MALE, "they": "", "them": "",
    "their": "",
}  # fmt: skip
_ANYTHING: Final = frozenset("it that this one ones those these thing".split())
_ORDINALS: Final = {
    word: place
    for place, words in enumerate(
        "first 1st|second 2nd|third 3rd|fourth 4th|fifth 5th|sixth 6th|seventh 7th|eighth 8th|ninth 9th|tenth 10th".split("|"), 1
    )
    for word in words.split()
}  # fmt: skip
_DIGITS: Final = "一二三四五六七八九十"
_LAST: Final = re.compile(r"\b(?:last|latest|newest|final|most recent|lately)\b", re.I)
_LAST_BUT_ONE: Final = re.compile(
    r"\b(?:second (?:to )?last|last but one|penultimate|next to last|before (?:the )?last)\b|倒数第[二2两]", re.I
)
_BEFORE: Final = re.compile(
    r"\b(?:previous|earlier|prior|preceding|other|one before|before (?:that|this|it))\b"
    r"|再?前一|上上|再上一|之前那|另外?(?:一|那)?(?:个|份|张|篇|条)|另一",
    re.I,
)
_ZH_ORDINAL: Final = re.compile(r"(?<!倒数)第\s*([一二三四五六七八九十]|\d{1,3})(?!次)")
_ZH_LAST: Final = re.compile(r"最后|最新|最近|上一|上次|上个|末尾")
_SAID: Final = (
    "mention(?:ed)?|s[ae]nt|send|shar(?:ed|e)|gave|give|posted|uploaded|asked|told|talked|said|wrote|write|found|find"
    "|suggest(?:ed)?|recommend(?:ed)?|showed|listed|created|made|opened|read|used|ran|called|attached|meant|name[d]?|put|saved"
    "|downloaded|fetched"
)
_BY: Final = (
    ("user", re.compile(rf"\bI (?:\w+ ){{0,2}}?(?:{_SAID})\b|\bI(?:'ve| have) (?:just )?\w+|我(?:刚才|刚刚|刚|之前|前面|最早|先)?(?:给你|跟你|向你)?(?:提|说|发|给|问|上传|分享|写|讲|传|贴)", re.I)),
    ("assistant", re.compile(rf"\byou (?:\w+ ){{0,2}}?(?:{_SAID})\b|\byou(?:'ve| have) (?:just )?\w+|\byour (?:\w+ )?(?:suggestion|idea|option|proposal|recommendation|link|answer)|[你您](?:刚才|刚刚|刚|之前|前面|最早)?(?:给我|跟我|向我)?(?:提|说|发|给|推荐|建议|写|找|上传|分享|列|创建|打开|读|搜|生成|保存|做)|[你您]的(?:第.)?[^，。]{0,3}(?:建议|推荐|方案|链接)", re.I)),
)  # fmt: skip
VERBS: Final = {
    "wrote": "write", "written": "write", "found": "find", "sent": "send", "made": "make", "ran": "run", "gave": "give",
    "写": "write", "读": "read", "打开": "open", "上传": "upload", "下载": "download", "搜": "search", "创建": "create",
    "保存": "save", "删": "delete", "运行": "run", "跑": "run", "抓": "fetch", "看": "read",
}  # fmt: skip
_NOISE: Final = frozenset(
    "the a an i me my you your we us our to of in on at for from with and or but please could can would will shall do"
    " does did is are was were be been have has had just now again then so let lets take show give open read tell"
    " summarise summarize mention mentioned send sent said say talk talked about ask asked use used what which who"
    " whom that this it one ones those these thing last latest newest first second third previous before earlier other"
    " most recent gave given shared uploaded told there here by not no yes as if into out up more some any all".split()
)
_ZH_NOISE: Final = re.compile(
    r"刚才|刚刚|之前|前面|提到|说到|说过|提过|说的|提的|那[一]?[个份张篇条家位次本些]?|这[一]?[个份张篇条家位次本些]?|最后|最新|最近|倒数|第[一二三四五六七八九十\d]+"
    r"|上一|前一|再|请|帮我|一下|总结|打开|告诉|[我你您他她它们的了吧呢吗啊就选把给发说问看读写个份张篇条家位次里面是什么用叫做一]|请问|上传|分享|推荐"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a phrase asks for. `place` counts from 1, or from -1 backwards; None where none is told.

    `kind` is None for "it" and for words that name no kind; `anything` tells the two apart. `noun` are the
    terms of the word that names it, `words` those that describe it, `verbs` what was done with it, `role` who
    named it.
    """

    kind: str | None
    tag: str
    keep: bool
    gender: str
    anything: bool
    place: int | None
    over_all: bool
    role: str | None
    noun: frozenset[str]
    words: frozenset[str]
    verbs: frozenset[str]


@cache
def _english() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for (kind, tag), names in _NOUNS.items():
        for name in names.split():
            if name.isascii():
                found.setdefault(name, (kind, tag))
                found.setdefault(name + "s", (kind, tag))
    for word, kin in english_words.KIN.items():
        found.setdefault(word, (ENTITY, kin))
    return found


@cache
def _chinese() -> list[tuple[str, tuple[str, str]]]:
    """The Chinese nouns, the longest first."""
    found = {name: key for key, names in _NOUNS.items() for name in names.split() if not name.isascii()}
    for word, kin in chinese_words.KIN.items():
        found.setdefault(word, (ENTITY, kin))
    return sorted(found.items(), key=lambda pair: -len(pair[0]))


def nouns_of(tag: str) -> tuple[str, ...]:
    """The words of both languages for a kind of entity: those that stand beside its name."""
    return tuple(_NOUNS.get((ENTITY, tag), "").split())


def wanted(phrase: str) -> Wanted:
    """Read a phrase of either language.

    >>> found = wanted("the second file you sent me")
    >>> found.kind, found.place, found.role
    ('file', 2, 'assistant')
    >>> wanted("刚才提到的那个文档").tag
    'document'
    """
    text = " ".join(phrase.replace("’", "'").split())
    words = re.findall(r"[a-z0-9][a-z0-9'_.#-]*", text.lower())
    kind, tag, used = _noun(text, words)
    gender, pronoun = _pronoun(text, words)
    if kind is None and pronoun:
        kind, tag = ENTITY, PERSON
    place, over_all = _place(text, words)
    role = next((who for who, said in _BY if said.search(text)), None)
    rest = [word for word in words if word not in _NOISE and word not in _ORDINALS and word not in _PRONOUNS]
    keep = tag[:1].isupper()
    described = [word for word in rest if keep or word not in used]
    chinese = text
    for word in used:
        if not keep and not word.isascii():
            chinese = chinese.replace(word, " ")
    han = re.findall(r"[\u4e00-\u9fff]+", _ZH_NOISE.sub(" ", chinese))
    verbs = {VERBS.get(word, word) for word in words if word in VERBS} | {
        verb for word, verb in VERBS.items() if not word.isascii() and word in text
    }
    return Wanted(
        kind=kind,
        tag=tag.lower(),
        keep=keep,
        gender=gender,
        anything=kind is None
        and (bool(_ANYTHING & set(words)) or bool(re.search(rf"[那这它]|第\s*[\d{_DIGITS}]|最后|上一", text))),
        place=place,
        over_all=over_all,
        role=role,
        noun=frozenset(terms(" ".join(used))),
        words=frozenset(terms(" ".join(described + han))),
        verbs=frozenset(verbs),
    )


def _noun(text: str, words: list[str]) -> tuple[str | None, str, tuple[str, ...]]:
    """The kind, its tag, and the words that told it: the first noun of a phrase is its head."""
    for first, second in pairwise(words):
        if found := _PAIRS.get(f"{first} {second}"):
            return *found, (first, second)
    english = _english()
    for place, word in enumerate(words):
        key = word.removesuffix("'s")
        if key in english and not (key in ("call", "search", "read", "order", "log") and place == 0):
            return *english[key], (key,)
    places = [(text.find(word), -len(word), word, key) for word, key in _chinese() if word in text]
    strong = [found for found in places if len(found[2]) > 1] or places
    # "你给的建议里的那份文档": the head of a Chinese phrase is its last noun.
    if strong:
        _, _, noun, meant = max(strong, key=lambda found: (found[0] - found[1], -found[1]))
        return *meant, (noun,)
    return None, "", ()


def _pronoun(text: str, words: list[str]) -> tuple[str, bool]:
    for word in words:
        if word in _PRONOUNS:
            return _PRONOUNS[word], True
    if "她" in text:
        return FEMALE, True
    if "他" in text and "其他" not in text:
        return MALE if "他们" not in text else "", True
    return "", False


def _place(text: str, words: list[str]) -> tuple[int | None, bool]:
    """Which of several, and whether it is counted over the whole conversation."""
    over_all = bool(
        re.search(r"\bI (?:\w+ )?(?:mention|gave|sent|shared|told)|\bwe talked|我(?:给|发|提|说)", text, re.I)
    )
    if _LAST_BUT_ONE.search(text):
        return -2, over_all
    if found := _ZH_ORDINAL.search(text):
        number = _DIGITS.index(found[1]) + 1 if found[1] in _DIGITS else int(found[1])
        return (number or None), over_all
    for word in words:
        if word in _ORDINALS:
            return _ORDINALS[word], over_all
    if re.search(r"倒数第[一1]", text):
        return -1, over_all
    if _BEFORE.search(text):
        return -2, over_all
    if _LAST.search(text) or _ZH_LAST.search(text):
        return -1, over_all
    return None, over_all
