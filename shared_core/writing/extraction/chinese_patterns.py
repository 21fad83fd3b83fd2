"""What a Chinese clause says of its subject: one pattern a way of saying it, tried in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared_core.writing.extraction import chinese_words as w


@dataclass(frozen=True, slots=True)
class Reading:
    """A predicate with its object."""

    predicate: str
    object: str
    polarity: bool = True
    ended: bool = False
    subject: str | None = None


Reader = Callable[[re.Match[str]], list[Reading]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`own`: True for any subject, None for the speaker only, False for others only. `state`: past adverbs end it."""

    regex: re.Pattern[str]
    read: Reader
    own: bool | None = True
    state: bool = False
    often: bool = False
    latin: bool = False


_COUNTED: Final = re.compile(
    r"^(?:(?:了|过)?(?:一|那|这)(?:个|只|条|辆|台|部|本|家|名|位|架|款|双|套|件|幅|把|张|首|篇|座|间|栋|匹|头|种|些|门|份|块|场|次|顿|盆|支|瓶|杯|趟|所|艘|番)(?=.)"
    r"|(?:了|过)?(?:个|只|台|辆|款|位|架|艘|栋|匹|间)(?=.)|(?:了|过)|一(?=小狗|小猫))"
)
GONE: Final = r"(?:已经|都|也|刚刚?|早就)*(?:被我)?(?:卖|转让|送人|处理|捐|报废)(?:掉|出去|出)?了"
"""How a thing is said to be one's own no more: "车已经卖了"."""
_CLOSING: Final = re.compile(
    r"(?:了|呢|啊|呀|哦|啦|哈|嘛|的|喔|噢|，|,|。|！|!|~|～|\s|哈哈|而已|来着|一段时间|好几年|很多年|多年|很久|好久)+$"
)
_BARRED: Final = re.compile(r"你|您|这|那(?!不勒斯)|它|(?<!吉)他(?!们)|她|什么|怎么|哪|谁|自己$")
_JOINED: Final = re.compile(r"[、和跟与及以及]+")


def tidy(text: str) -> str:
    """An object without its measure word and the particles behind it; a count other than one stays.

    >>> tidy("了一只小狗"), tidy("两只狗了")
    ('小狗', '两只狗')
    """
    text = _CLOSING.sub("", text.strip("《》“”\"' "))
    return _COUNTED.sub("", text).strip("《》“”\"' ")


def is_name(text: str) -> bool:
    """Whether a word may be a person's name."""
    if re.fullmatch(r"[A-Za-z][\w.+#-]*", text):
        return True
    if text in w.NOT_NAMES or any(text.startswith(word) for word in w.NOT_NAMES if len(word) > 1):
        return False
    if re.search(r"[的了是在有不没我你他她它们这那吗呢吧啊个和就也都还很要会去来说做想被把从到]", text[1:]):
        return False
    return bool(re.fullmatch(rf"[{w.SURNAMES}][\u4e00-\u9fff]{{1,2}}|[小老阿][\u4e00-\u9fff]{{1,2}}", text))


def _ok(text: str, longest: int = 16) -> bool:
    return 0 < len(text) <= longest and not _BARRED.search(text)


def fact(
    predicate: str, *, polarity: bool = True, ended: bool = False, longest: int = 16, only: str = "", bar: str = ""
) -> Reader:
    """Reads the group `o` as the object; `no` turns it round, `gone` ends it."""
    must = re.compile(only) if only else None
    never = re.compile(bar) if bar else None

    def read(match: re.Match[str]) -> list[Reading]:
        groups = match.groupdict()
        found = tidy(groups["o"])
        if not _ok(found, longest) or (must and not must.search(found)) or (never and never.search(found)):
            return []
        over = ended or bool(groups.get("gone"))
        return [Reading(predicate, found, polarity and not groups.get("no") and not over, over)]

    return read


def fixed(predicate: str, value: str, *, polarity: bool = True, ended: bool = False) -> Reader:
    """Always this object."""
    return lambda match: [Reading(predicate, value, polarity and not match.groupdict().get("no"), ended)]


def several(predicate: str, item: str) -> Reader:
    """Every occurrence of an item in `o`, one fact each."""
    one = re.compile(item)
    return lambda match: [Reading(predicate, m[0], not match.groupdict().get("no")) for m in one.finditer(match["o"])]


def listed(predicate: str, longest: int = 12) -> Reader:
    """The parts of a list, one fact each."""

    def read(match: re.Match[str]) -> list[Reading]:
        gone = bool(match.groupdict().get("gone"))
        polarity = not match.groupdict().get("no") and not gone
        parts = [tidy(part) for part in re.split(r"、|和|跟", match["o"])]
        return [Reading(predicate, part, polarity, gone) for part in parts if _ok(part, longest)]

    return read


# ---------------------------------------------------------------------- readers of their own

_ORG: Final = re.compile(rf"(?:{w.ORG})$")


def where(name: str) -> str:
    """Whether one works in this town or at this firm."""
    return "works_in" if name in w.CITIES or re.search(r"[市省县区镇村国]$", name) else "works_at"


def _work(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    if not _ok(found, 14) or re.search(r"^(?:家|努力|认真|外面|外地|一起)$", found):
        return []
    gone = bool(match.groupdict().get("gone"))
    no = bool(match.groupdict().get("no"))
    readings = [Reading(where(found), found, not gone and not no, gone or no)]
    if job := match.groupdict().get("job"):
        readings.append(Reading("works_as", tidy(job)))
    return readings


def _left(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    return [Reading("works_at", found, False, True)] if _ok(found, 12) and found not in w.CITIES else []


def _moved(match: re.Match[str]) -> list[Reading]:
    readings = []
    if (before := match.groupdict().get("before")) and _ok(tidy(before), 12):
        readings.append(Reading("lives_in", tidy(before), False, True))
    found = tidy(match["o"])
    if not _ok(found, 14) or re.search(r"^(?:新家|新房|一起|外面|隔壁|楼[上下])", found):
        return readings
    return [*readings, Reading("lives_in", found)]


def _lives(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    gone = bool(match["no"])
    if not _ok(found, 14) or re.search(r"^(?:院|酒店|一起|校|得|了)|隔壁|对面|楼[上下]$", found):
        return []
    return [Reading("lives_in", found, not gone, gone)]


def _student(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    readings = []
    if re.search(rf"(?:{w.SCHOOL})", found):
        readings.append(Reading("studies_at", found))
    elif found in w.CITIES:
        readings.append(Reading("studies_in", found))
    if (major := match.groupdict().get("major")) and tidy(major) not in (
        "书",
        "大学",
        "研",
        "博",
        "博士",
        "研究生",
        "高中",
        "初中",
        "小学",
        "大一",
    ):
        readings.append(Reading("studies", re.sub(r"专业$", "", tidy(major))))
    return readings if _ok(found, 14) else []


def _favourite(match: re.Match[str]) -> list[Reading]:
    category, found = match["kin"].strip(), tidy(match["o"])
    if not _ok(found) or len(category) > 6 or category in ("事", "人", "就", "一点"):
        return []
    return [Reading(f"favourite {w.CATEGORIES.get(category, category)}", found, not match["no"])]


def _person_is(match: re.Match[str]) -> list[Reading]:
    found = match["o"].strip()
    return [Reading("name", found)] if is_name(found) and not re.search(r"(?:人|生|师|员|家)$", found) else []


def _from_place(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    ok = found in w.CITIES or re.search(r"[市省县区镇村国州]$", found) or match.groupdict().get("sure")
    bad = re.search(
        r"^(?:好|坏|负责|主持|老|病|女|男|本地|外地|工|军|诗|商|年轻|普通|什么|明白|穷|富|新|行|名|个|聪明|懒|中间|内向|外向|乐观)",
        found,
    )
    return [Reading("from", found)] if ok and not bad and _ok(found, 8) else []


def _married(match: re.Match[str]) -> list[Reading]:
    found = match["o"].strip()
    return [Reading("married_to", found)] if is_name(found) else [Reading("marital_status", "已婚")]


def _visited(match: re.Match[str]) -> list[Reading]:
    found = tidy(
        re.sub(r"(?:旅游|旅行|度假|玩|出差|看看|一趟|一次|两次|好几次|好多次|逛逛|参观|看望.*)+$", "", tidy(match["o"]))
    )
    found = tidy(found)
    if not _ok(found, 12) or re.search(rf"^(?:{w.RELEASED})", found):
        return []
    if re.search(rf"(?:{w.EVENTS})$", found):
        return [] if match.groupdict().get("no") else [Reading("attended", found)]
    return [Reading("visited", found, not match.groupdict().get("no"))]


def _attended(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    if not _ok(found):
        return []
    if re.search(r"(?:社|队|俱乐部|协会|合唱团|乐团)$", found):
        return [Reading("member_of", found)]
    return [Reading("attended", found)]


def _read_or_seen(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    title = re.search(r"《(.+?)》", match["o"])
    seen = re.search(r"电影|影片|片|剧|演出|展|演唱会|音乐会|比赛|话剧", match["o"])
    if title is None and not seen and not re.search(r"书|小说|传记|文章", found):
        return []
    return (
        [Reading("watched" if seen else "read", title[1] if title else found)]
        if _ok(title[1] if title else found)
        else []
    )


def _alias(match: re.Match[str]) -> list[Reading]:
    found = match["o"].strip()
    return [Reading("also_called", found)] if is_name(found) else []


def _uses(match: re.Match[str]) -> list[Reading]:
    gone = bool(match.groupdict().get("gone"))
    no = bool(match.groupdict().get("no"))
    found = re.sub(
        r"(?:写代码|写|做|来|开发|办公|记笔记|记|画图|画|拍照|拍|剪辑|剪|编程|学习|学|管理|上网|听歌|打字|部署).*$",
        "",
        match["o"],
    )
    parts = [tidy(part) for part in re.split(r"、|和|跟", found)]
    good = [p for p in parts if _ok(p, 16) and (re.search(r"[A-Za-z]", p) or match.groupdict().get("sure") or re.search(
        r"微信|支付宝|淘宝|抖音|钉钉|飞书|小红书|微博|安卓|苹果|华为|小米|电脑|手机|系统|浏览器|输入法|编辑器|数据库|软件|相机", p))]  # fmt: skip
    return [Reading("uses", p, not (no or gone), gone or (no and "了" in match[0][-1:])) for p in good]


def _is_a(match: re.Match[str]) -> list[Reading]:
    found = tidy(match["o"])
    if not _ok(found, 10) or re.search(
        r"好|棒|不错|天才|笨蛋|傻|坏|糟|美|牛|问题|错误|奇迹|人$|的$|很|真|东西|地方|办法|方案", found
    ):
        return []
    return [Reading("is_a", found)]


def _title(match: re.Match[str]) -> list[Reading]:
    return [Reading("also_called", match["o"])] if is_name(match["o"]) else []


def _p(
    regex: str, read: Reader, *, own: bool | None = True, state: bool = False, often: bool = False, latin: bool = False
) -> Pattern:
    return Pattern(re.compile(regex), read, own, state, often, latin)


_O: Final = r"(?P<o>.+?)"
_NOT: Final = r"(?P<no>不再|不|没有|没|别)?"
_VERY: Final = r"(?:非常|特别|超级|超|最|很|挺|蛮|好|比较|尤其|真的|真|十分|相当|太|更|都|也|还)*"
_TENDER: Final = r"(?:喜欢|热爱|喜爱|酷爱|钟爱|偏爱|迷上了?|爱上了?|爱(?=吃|喝|看|听|玩|打|跑|旅行|运动|唱|跳|读|逛|喝茶|画|养|骑|游|爬|拍))"

PATTERNS: Final[tuple[Pattern, ...]] = (
    # who one is
    _p(r"(?:的名字)?(?:叫做|名叫|叫|的名字是|全名是|名字是)(?P<o>[\u4e00-\u9fffA-Za-z·]{1,12})$",
       fact("name", longest=12, bar=r"^[他她你我它了来去人大停醒做不到]")),
    _p(r"姓(?P<o>[\u4e00-\u9fff]{1,2})$", fact("surname")),
    _p(r"(?:的)?生日(?:是|在|：)?(?P<o>.*[月日号].*)$", fact("birthday")),
    _p(r"是?(?:出)?生?于?(?P<o>(?:\d{4}年)?[\d一二三四五六七八九十]+月[\d一二三四五六七八九十]+[号日])(?:出)?生的?$", fact("birthday"), own=True),
    _p(r"(?:今年|都|刚满?|快|满)*(?P<o>(?:\d{1,3}|[一二三四五六七八九十]{1,4})岁)(?:了|半)?$", fact("age")),
    _p(rf"(?:出生在|出生于|生在|生于){_O}$", fact("born_in", longest=10)),
    _p(r"(?:的)?(?:邮箱|电子邮箱|电子邮件|邮件|email|Email|E-mail)(?:地址)?(?:是|为|：|:)?\s*(?P<o>[\w.+-]+@[\w-]+\.[\w.]*\w)$", fact("email", longest=80)),
    _p(r"(?:的)?(?:手机号?码?|电话号?码?|联系电话|联系方式|座机)(?:是|为|：|:)?\s*(?P<o>\+?\d[\d -]{5,}\d)$", fact("phone", longest=24)),
    _p(r"(?:的)?(?:家庭|公司|收货|通讯|新|住)?(?:地址|住址)(?:是|在|为|：|:)(?P<o>.{4,60})$", fact("address", longest=60)),
    _p(r"(?:的)?(?P<k>血型)(?:是|为)(?P<o>.{1,4})$", fact("blood type")),
    _p(r"(?:的)?身高(?:是|有|为)?(?P<o>(?:一米|\d).{1,8})$", fact("height")),
    # taste
    _p(rf"(?:的)?最{_TENDER}(?:吃|喝|看|听|玩)?的(?P<kin>[\u4e00-\u9fff]{{1,6}}?)(?P<no>不)?是(?P<o>.+)$", _favourite),
    _p(r"(?:的)?最爱(?:吃|喝|看|听|玩)?的(?P<kin>[\u4e00-\u9fff]{1,6}?)(?P<no>不)?是(?P<o>.+)$", _favourite),
    _p(rf"(?:比较|还是|其实)?更(?:喜欢|爱|偏好|偏爱){_O}$", fact("prefers")),
    _p(rf"{_VERY}(?P<gone>不再|再也不|已经不){_VERY}{_TENDER}{_O}(?:了)?$", fact("likes")),
    _p(rf"{_VERY}(?P<no>不太|不怎么|不是很|并不|从不|不){_VERY}{_TENDER}{_O}$", fact("likes")),
    _p(rf"{_VERY}{_TENDER}(?!上|过|了){_O}$", fact("likes", bar=r"^(?:的|你|看到|听到|和你)|(?:主意|想法|方案|颜色|感觉|设计|说法|时候)$")),
    _p(rf"{_VERY}(?:讨厌|厌恶|反感|受不了|不能忍受|嫌弃){_O}$", fact("likes", polarity=False)),
    _p(r"喜欢的(?P<kin>[\u4e00-\u9fff]{1,4})是(?P<o>.+)$", fact("likes")),
    _p(r"(?:的)?(?:爱好|兴趣|兴趣爱好)(?:是|有)(?P<o>.+)$", listed("likes")),
    _p(r"是(?:个|一个|一名|位)?(?:超级|资深|忠实|铁杆)*(?P<o>[\u4e00-\u9fffA-Za-z]{1,10}?)(?:的?(?:忠实|铁杆)?粉丝|迷|爱好者|控)$", fact("likes")),
    _p(rf"对(?P<o>.+?)(?P<no>不)?{_VERY}(?:感兴趣|着迷|情有独钟)$", fact("likes")),
    # body and table
    _p(r"对(?P<o>.+?)(?:严重|特别|有点|会)?(?P<no>不)?(?:过敏)$", listed("allergic_to")),
    _p(r"(?:有)?(?P<o>[\u4e00-\u9fff]{1,6}?)(?:严重)?过敏(?:症)?$", fact("allergic_to", longest=6, bar=r"^(?:不|会|皮肤|春天|有点|容易|又|没)")),
    _p(r"不再?吃素(?:了)?$", fixed("diet", "素食", polarity=False, ended=True)),
    _p(r"(?P<no>不)?(?:是)?(?:吃素|素食(?:主义)?者?|吃全素|不吃荤)(?:的|了)?$", fixed("diet", "素食")),
    _p(r"改(?:成|为)?(?:吃素|吃全素)(?:了)?$", fixed("diet", "素食")),
    _p(r"(?:是)?(?:纯素(?:主义)?者|吃纯素)$", fixed("diet", "纯素")),
    _p(r"(?:不再|(?P<again>再也不)){0,1}(?P<no>不能|不爱|不会|从不|不)?吃(?P<o>[\u4e00-\u9fff]{1,6}?)(?P<gone>了)?$",
       lambda m: fact("eats", longest=6, bar=r"^(?:饭|了|完|过|早|午|晚|亏|到|得|惊|醋|药)")(m) if m["no"] else []),
    _p(r"(?P<no>不能|从不|不会|不)喝(?P<o>[\u4e00-\u9fff]{1,6}?)(?P<gone>了)?$", fact("drinks", longest=6, bar=r"^(?:了|完|到|得)")),
    _p(r"(?:(?:改|换成|改成|只|就只|每天都?|天天|平时都?|习惯)(?:喝)(?!了)|(?:换成|改成)(?=.*茶|.*咖啡))(?P<o>[\u4e00-\u9fffA-Za-z]{1,8}?)(?:了)?$", fact("drinks", longest=8, bar=r"^(?:了|完|到|得|多|少|一)")),
    _p(r"戒(?:掉)?了?(?P<o>烟|酒|糖|咖啡|奶茶|游戏|可乐)(?:了)?.{0,6}$", fact("quit")),
    _p(rf"(?:患有|患了|得了|有|被?(?:确)?诊断?(?:出|为|患有?|得了)?(?:患有|了)?)(?:轻微|严重|慢性|遗传性|先天性)?(?P<o>[\u4e00-\u9fff]{{0,3}}(?:{w.CONDITIONS}))$", fact("has_condition")),
    # where one lives and comes from
    _p(rf"从(?P<before>[^搬]{{1,10}}?)搬(?:家)?(?:到|去|来|回)了?{_O}$", _moved),
    _p(rf"(?:搬家?(?:到|去|来|进|回|至)|移居到?|定居(?:在|到)?|移民(?:到|去)?)了?{_O}$", _moved),
    _p(rf"(?P<no>不再|已经不|不)?(?:居住在|住在|住){_O}$", _lives, state=True),
    _p(r"是(?P<o>[\u4e00-\u9fff]{2,8}?)人$", _from_place),
    _p(r"(?:来自|老家(?:是|在)|家乡(?:是|在)|的老家(?:是|在)|的家乡(?:是|在))(?P<sure>)(?P<o>[\u4e00-\u9fffA-Za-z]{2,10})$", fact("from", longest=10)),
    # work and study
    _p(r"(?P<no>不)在(?P<o>.+?)(?:工作|上班|任职|做事)(?:了)?$", _work),
    _p(r"(?P<gone>不再)在(?P<o>.+?)(?:工作|上班|任职|做事)(?:了)?$", _work),
    _p(r"在(?P<o>.+?)(?:做|当)(?:一?[名个])?(?:义工|志愿者|志愿服务)(?:了)?$", fact("volunteers_at")),
    _p(rf"在(?P<o>.+?)(?:担任|当|做)(?:了)?(?:一?[名个位])?(?P<job>{w.JOB})(?:了)?$", _work, state=True),
    _p(r"在(?P<o>[^学读]+?)(?:工作|上班|任职|就职|供职|打工|实习)(?:了|过)?$", _work, state=True),
    _p(r"从(?P<a>.+?)跳槽(?:到|去)了?(?P<o>.+)$",
       lambda m: [Reading("works_at", tidy(m["a"]), False, True), Reading("works_at", tidy(m["o"]))]),
    _p(r"(?:就职|任职|供职)于(?P<o>.+)$", _work, state=True),
    _p(r"在(?P<o>[^住]{2,10}?)住(?P<past>过|了).*$", lambda m: [Reading("lives_in", tidy(m["o"]), m["past"] != "过", m["past"] == "过")]),
    _p(r"(?:入职|跳槽(?:到|去)|加盟)了?(?P<o>.+)$", fact("works_at")),
    _p(r"从(?P<o>.+?)(?:离职|辞职|辞了职|跳槽|退休)(?:了|的)?$", _left),
    _p(r"(?:已经)?(?:离开了?|离职于)(?P<o>[\u4e00-\u9fffA-Za-z]+?(?:公司|集团|银行|医院|学校|阿里|腾讯|百度|华为|谷歌|微软|字节|字节跳动|美团|京东|网易|小米))(?:了)?$", _left),
    _p(r"(?:辞职|离职|裸辞|辞了职|辞掉了?工作|辞了工作)了?$", fixed("quit", "工作")),
    _p(r"(?:失业|被裁(?:员)?|丢了工作|失去了?工作)(?:了)?$", fixed("lost", "工作")),
    _p(r"换了?(?:一?[份个])?工作了?$", fixed("started", "新工作")),
    _p(r"(?:换|找到?|有)了(?:一?[个份])?(?P<o>新工作)$", fact("started")),
    _p(rf"(?:的)?(?:职业|工作|职位)是(?:一?[名个位])?(?P<o>{w.JOB})$", fact("works_as"), state=True),
    _p(rf"(?:升职|升|晋升|提拔)?(?:当上?|做了?|成为|成|升为|升任|晋升为|被提拔为|担任)了?(?:一?[名个位])?(?P<o>{w.JOB})(?:了)?$", fact("works_as"), state=True),
    _p(rf"(?P<no>不再|不)?是(?:我们|公司|学校|部门|团队)?的?(?:一?[名个位])?(?:新|新任|现任|全职|兼职)?的?(?P<o>{w.JOB})$", fact("works_as", bar=r"好|棒|笨|厉害"), state=True),
    _p(rf"是(?:一?[名个位])?(?P<o>(?:[\u4e00-\u9fff]{{0,8}}?)(?:{w.CLASS}))$", fact("is_a")),
    _p(rf"在(?P<o>.+?(?:{w.SCHOOL}|{'|'.join(sorted(w.CITIES))}))(?:读|念|学|攻读|主修)(?P<major>.{{2,12}}?)(?:专业)?$", _student),
    _p(r"在(?P<o>.+?)(?:读书|上学|念书|就读|求学|留学|上大学|读大学|读研|读博|念大学)(?:了)?$", _student),
    _p(r"就读于(?P<o>.+)$", _student),
    _p(r"(?:大学)?(?:学的是|的?专业是|主修|攻读|读的是|大学专业是|大学学的是)(?P<o>.+?)(?:专业)?$", fact("studies")),
    _p(rf"(?:毕业于(?P<o>.+)|从(?P<p>.+?)毕业(?:了|的)?|是(?P<q>[^，]+?(?:{w.SCHOOL}))毕业的)$",
       lambda m: [Reading("graduated_from", tidy(m["o"] or m["p"] or m["q"]))]),
    _p(r"(?:正在|在|开始|刚开始|开始在)(?:自)?学(?:习)?(?!校|期|生|着)(?P<o>[\u4e00-\u9fffA-Za-z+#]{1,10})$", fact("learns", longest=10)),
    # belongings
    _p(r"(?:已经)?(?P<gone>不再|不)养(?P<o>.+?)(?:了)?$", fact("owns", only=rf"(?:{w.PETS})$")),
    _p(rf"(?:还|又)?(?:养了?|家?里?有|家里养了?|拥有|有了)(?P<o>(?:一|两|三|四|五|六|\d+|几)?(?:[个只条辆台部架把套间栋匹艘家])?.{{0,8}}?(?:{w.THINGS}))$", fact("owns")),
    _p(r"(?P<no>没有?)养(?P<o>.+?)$", fact("owns", only=rf"(?:{w.PETS})$")),
    _p(r"(?:的)(?:车|手机|电脑|笔记本|相机|平板)是(?P<o>[^的]{1,14})$", fact("owns", bar=r"好|坏|旧|新|我|红|黑|白|色")),
    _p(r"(?:在.{1,6}?)?(?:又|刚|新)?(?:买|购买|入手|购入|订购|添置)了(?P<o>.+)$", fact("owns", bar=r"^(?:菜|单|完)|一堆|很多|时间")),
    _p(r"(?:领养|收养|认养)了(?P<o>.+)$", lambda m: fact("has_family" if re.search(rf"(?:{w.FAMILY})$", m["o"]) else "owns")(m)),
    _p(r"把(?P<o>.+?)(?:卖|出售|转让|送人|扔)(?:掉|出去)?了?$", fact("owns", ended=True)),
    _p(rf"的?(?P<o>{w.THINGS}){GONE}$", fact("owns", ended=True)),
    _p(r"(?:卖掉?|出售|转让|处理掉)了?(?P<o>(?!得).+)$", lambda m: fact("owns", ended=True)(m) if "了" in m[0] else []),
    _p(r"(?:不小心)?(?:弄丢|丢|遗失|失去)了(?P<o>.+)$", fact("lost", longest=8)),
    _p(r"(?P<no>不再|不)(?:使?用)(?P<o>.+)$", _uses),
    _p(r"(?:主要|一直|平时|都)?(?:在|是)?(?:使?用(?:的)?(?P<sure>是)|换成了?(?P<sure2>)|改用了?|换用了?|使用了?|采用了?|在用|用了|用)(?P<o>.+)$", _uses),
    # people
    _p(rf"(?P<no>没)?有(?P<o>(?:一|两|三|四|五|\d+)?[个位名]?.{{0,6}}?(?:{w.FAMILY}))$", fact("has_family", bar=r"^(?:时候|人)")),
    _p(rf"(?:刚)?生了(?P<o>(?:一|两)?[个对]?.{{0,4}}?(?:{w.FAMILY}))$", fact("has_family")),
    _p(r"(?:和|跟|与)(?P<o>[\u4e00-\u9fffA-Za-z]{1,6}?)(?:领证)?结(?:了)?婚(?:了)?$", _married),
    _p(r"(?:嫁给|娶)了(?P<o>[\u4e00-\u9fffA-Za-z]{1,6})$", _married),
    _p(r"(?:和|跟|与)(?P<o>[\u4e00-\u9fffA-Za-z]{1,6}?)订(?:了)?婚(?:了)?$",
       lambda m: [Reading("engaged_to", m["o"])] if is_name(m["o"]) else [Reading("marital_status", "订婚")]),
    _p(r"(?:结婚|已婚|结了婚|领证)(?:了|很久|多年)*(?:.{0,3}年了?)?$", lambda m: [Reading("marital_status", "已婚")] if re.search(r"了|已", m[0]) else []),
    _p(r"(?:离婚了?|离异|离了婚)$", fixed("marital_status", "离异")),
    _p(r"(?:是)?单身(?:狗|的|中)?$", fixed("marital_status", "单身")),
    _p(r"(?:订婚了|订了婚)$", fixed("marital_status", "订婚")),
    _p(r"(?:就是|也叫|又叫|人称|外号叫?|指的是|又名|全名叫?)(?P<o>[\u4e00-\u9fffA-Za-z]{1,6})$",
       lambda m: [Reading("alias", m["o"])] if is_name(m["o"]) or "就是" not in m[0] else [], own=True),
    # groups and projects
    _p(rf"(?P<gone>不再|已经不)?是我(?:们|家)?的?(?:好|亲|大|小)?(?P<o>{'|'.join(sorted(w.KIN, key=len, reverse=True))})(?:了)?$",
       lambda m: [Reading("kin", m["o"], not m["gone"], bool(m["gone"]))], own=False),
    _p(r"是(?P<o>.+?)的?(?:成员|会员|队员|一员|社员)$", fact("member_of")),
    _p(r"(?:加入了?|报名(?:参加)?了?|报了)(?P<o>.+)$", fact("member_of", bar=r"^(?:的|进来)")),
    _p(r"(?:正在|在|最近在|正|一直在)(?:做|开发|写|研究|忙|参与|筹备|搞|设计|制作|写作|翻译)(?:着)?(?P<o>.+?(?:项目|小程序|软件|app|App|APP|系统|网站|论文|小说|课题|研究|书|游戏|剧本|纪录片|平台|应用|专辑))$", fact("works_on")),
    _p(r"(?:在|主要)?(?:负责|主导|参与)了?(?P<o>.+?(?:项目|系统|模块|平台|产品|工程|课题))(?:的.{1,6})?$", fact("works_on")),
    _p(r"(?:属于|归属于|归(?=.+管))(?P<o>.+?)(?:管|管理|负责)?$", fact("belongs_to"), own=False),
    # doing
    _p(rf"(?P<no>不)?会?(?:一点|一些|讲|说|说一口流利的|讲一口流利的)+(?:流利的?|一点|些)?(?P<o>{w.LANGUAGE}.*)$", several("speaks", w.LANGUAGE)),
    _p(rf"(?P<no>不)?会(?P<o>{w.PLAYED})$", lambda m: [Reading("plays", m["o"][1:], not m["no"])]),
    _p(rf"(?:在.{{1,8}}?|坚持|都|去)*(?P<o>{w.PLAYED})$", lambda m: [Reading("plays", m["o"][1:])], often=True),
    _p(rf"(?:都|坚持|会|去|早上|晚上|下午|在家)*(?:练习?|做|打)?(?P<o>{w.SPORTS})$", fact("practises"), often=True),
    _p(rf"(?:一直在|坚持|在)(?:练习?|做|打)(?P<o>{w.SPORTS})$", fact("practises")),
    _p(r"(?:在.{1,10}?)?教(?P<o>数学|语文|英语|物理|化学|生物|历史|地理|音乐|美术|体育|编程|钢琴|舞蹈|瑜伽|汉语|中文|法语|日语)(?:课)?$", fact("teaches")),
    _p(r"(?:执教|带|训练)(?P<o>.+?(?:队|球队))$", fact("coaches")),
    # events
    _p(r"(?P<no>从没|没有|没|从来没有?|还没)去过(?P<o>.+)$", _visited),
    _p(r"(?:.{0,10}?(?:带|陪|和|跟|与).{1,8}?)?(?:一起)?(?:去过|去了|到过|游览了|参观了|逛了|飞了)(?P<o>.+)$", _visited),
    _p(r"(?:刚)?从(?P<o>.+?)(?:旅游|旅行|度假|玩|出差)?回来(?:了)?$", _visited),
    _p(r"(?:到|去)(?P<o>.+?)(?:旅游|旅行|度假)了$", _visited),
    _p(r"(?:参加|出席|观摩)了(?P<o>.+)$", _attended),
    _p(r"(?:创办|创立|成立|创建)了(?P<o>.+)$", fact("founded")),
    _p(r"开了(?P<o>.{0,8}(?:店|公司|工作室|餐厅|咖啡馆|面包房|书店|民宿|诊所|饭馆|餐馆|网店|酒吧|农场|健身房))$", fact("founded")),
    _p(r"跑(?:完)?了(?P<o>.*(?:马拉松|公里|越野).*)$", fact("completed")),
    _p(r"完成了(?P<o>.*马拉松)$", fact("completed")),
    _p(r"(?:赢得?|获得?|拿到?|夺得?|得到?|荣获|斩获|评上)了?(?P<o>.+(?:奖|冠军|亚军|季军|第.名|金牌|银牌|铜牌|奖学金|证书|offer|学位|驾照))$",
       lambda m: fact("won")(m) if re.search(r"了|获|荣", m[0]) else []),
    _p(r"(?:通过|考过|考上)了(?P<o>.+)$", fact("passed")),
    _p(r"(?:读|看)(?:完)?了(?P<o>.+)$", _read_or_seen),
    _p(r"(?:完成|写完|做完|修完|提交)了(?P<o>.+)$", fact("finished")),
    _p(rf"(?:亲手)?(?:画|写|做|织|拍|烤|设计|制作|录|创作|缝|编|搭|雕)了(?P<o>.*(?:{w.WORKS}))$", fact("made")),
    _p(r"(?:收到|收)了(?P<o>.+(?:礼物|录取通知书?|信|花|奖|包裹|邀请函?))$", fact("received")),
    # things in the third person
    _p(r"是(?:一种|一款|一门|一个|一只|一家|一所|一座|一套|种|个)(?P<o>.+)$", _is_a, own=False),
    _p(r"是(?P<o>[\u4e00-\u9fffA-Za-z]{2,10})$", _is_a, own=False, latin=True),
    # a name of one's own, after everything else that "是" can say
    _p(r"是(?P<o>[\u4e00-\u9fff]{2,3})$", _person_is, own=None),
)  # fmt: skip
