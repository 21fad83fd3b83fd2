"""The words questions are made of, in both languages: data for `ask`."""

from __future__ import annotations

import re

WHO = frozenset({"who", "whom", "whose"})
WHICH = frozenset({"which", "what"})
WHERE = frozenset({"where"})
AUXILIARY = frozenset("do does did is are was were be been being am has have had will would can could".split())
BE = frozenset("is are was were be am".split())
NEGATION = frozenset("not no never none nothing nobody without except neither nor nt cannot cant".split())
FILLER = frozenset(
    "a an the our my your his her its their these those all any some currently now please tell me us know you"
    " just exactly there".split()
)
POSSESSIVE_FILLER = frozenset("our your their its his her".split())
SELF = frozenset({"i", "me", "myself"})
SELF_NAMES = ("user", "i", "me", "我", "用户", "本人")
KINDS = frozenset({"kind", "type", "sort"})
HOW_MANY = ("how", "many")
PREPOSITIONS = frozenset(
    "at in on of for with by to from about as into onto under over upon near through after before since until during"
    " against between among within like".split()
)
PERSONS = frozenset("person people one somebody someone anybody anyone everyone everybody who".split())
THINGS = frozenset("thing things something anything stuff".split())

CHINESE_NEGATION = re.compile(r"没有|没|不是|不|未|别|无|非")
CHINESE_YES_NO = re.compile(r"有没有|是不是|是否|会不会")
CHINESE_WHERE = ("什么地方", "哪个地方", "哪里", "哪儿", "何处", "何地", "哪裡", "哪")
CHINESE_WHO = ("哪些人", "什么人", "哪个人", "哪位", "谁")
CHINESE_WHICH = tuple(
    "哪几个 哪些个 哪一个 哪一些 哪些 哪个 哪家 哪种 什么样的 什么 多少个 多少 几个 啥".split()
)  # the longer before those that they begin with
CHINESE_UNSUPPORTED = re.compile(
    r"什么时候|什么时间|何时|几点|哪天|哪年|哪一天|哪一年|多久|多长|为什么|为何|怎么|怎样|如何|多大|几岁"
)
CHINESE_FILLER = re.compile(
    r"(?:我们|咱们|咱|你们|他们|她们|它们|您|你|请问|请|告诉我|现在|目前|都|也|还|正在|一下|一共|总共|的|了|着|过|吗|呢|吧|啊|呀|么|嘛|"
    r"是|有|在|被|由|和|所|个|名|位|家|[\s，,。.？?！!、；;：:\"'“”‘’「」《》])+"
)
