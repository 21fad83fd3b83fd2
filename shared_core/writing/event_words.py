"""The patterns by which `writing.events` tells what has happened, in both languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_EXTENSIONS: Final = (
    "py|js|ts|tsx|jsx|java|go|rs|cpp|cc|hpp|cs|rb|php|swift|kt|scala|sql|sh|yml|yaml|toml|json|md|html|css|scss|ini"
    "|cfg|conf|env|ipynb|vue|xml|gradle|proto|tf|txt|c|h|r"
)
FILE: Final = re.compile(rf"(?<![\w/.])(?:[\w\-./\\]*[\w\-]\.(?:{_EXTENSIONS})|Dockerfile|Makefile)(?![\w/])")
EDITS: Final = re.compile(
    r"write|edit|patch|replace|update|modify|create_file|save_file|delete_file|rename|insert", re.I
)
PATHS: Final = ("path", "file", "file_path", "filepath", "filename", "file_name", "target", "relative_path")
FEEDBACK_CHARS: Final = 200

# What has not happened: supposed, considered, suggested, hoped for.
UNREAL: Final = re.compile(
    r"\b(?:if|unless|suppose|imagine|what if|maybe|perhaps|might|could|would|wish|hopefully|i hope|hoping|once the"
    r"|when(?:ever)? you|considering|thinking (?:of|about)|you can|you may|you should|we should|i should|shall we"
    r"|i(?:'d| would) (?:suggest|recommend)|i suggest|i recommend|planning to|i plan to|going to (?:change|fix|add"
    r"|remove|update|refactor|deploy|run)|will (?:change|fix|add|remove|update|refactor|deploy|run)|for example|e\.g\.)\b"
    r"|如果|要是|假如|假设|倘若|万一|要不|也许|或许|可能|大概|说不定|考虑|建议|不妨|可以(?:修改|改|加|用|把|试|考虑|先)|你可以|应该|打算|准备|计划|想要不要"
    r"|希望能|但愿|等.{0,12}(?:了|后).{0,4}(?:我们|再|就)|例如|比如说?",
    re.IGNORECASE,
)
ASKS_EN: Final = re.compile(
    r"^(?:(?:so|and|but|ok(?:ay)?|well|hey|hi)[, ]+)*(?:do|does|did|is|are|was|were|can|could|will|would|should|shall|have you|has"
    r"|what|why|how|when|where|which|who|whose|any idea|could you|please (?:change|fix|update|add|remove|run|deploy|help))\b",
    re.IGNORECASE,
)
ASKS_ZH: Final = re.compile(
    r"[吗呢么]$|是不是|是否|要不要|有没有|能不能|可不可以|对不对|行不行|怎么(?!都|也)|什么时候|为什么|为何|如何|哪[个些里种]|谁来|^(?:请)?(?:帮我|能|麻烦)"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one language."""

    others: re.Pattern[str]
    decided: re.Pattern[str]
    chosen: re.Pattern[str]
    undecided: re.Pattern[str]
    required: re.Pattern[str]
    not_required: re.Pattern[str]
    code: re.Pattern[str]
    changed: re.Pattern[str]
    not_yet: re.Pattern[str]
    why: re.Pattern[str]
    error: re.Pattern[str]
    fixed: re.Pattern[str]
    it_fixed: re.Pattern[str]
    not_fixed: re.Pattern[str]
    hit: re.Pattern[str]
    fault: re.Pattern[str]
    life: re.Pattern[str]
    step: re.Pattern[str]
    result: re.Pattern[str]
    bad: re.Pattern[str]
    praise: re.Pattern[str]
    complaint: re.Pattern[str]


def _re(pattern: str, *, case: bool = False) -> re.Pattern[str]:
    return re.compile(pattern, re.NOFLAG if case else re.IGNORECASE)


_US = r"(?:we|i|(?:the|our|my) (?:whole )?team|the (?:board|committee|group))"
_ADVERBS = r"(?: (?:all|both|finally|just|now|also|jointly|already|then|have|had|has|ultimately|together|unanimously))*"
_PAST = (
    "changed|modified|updated|edited|refactored|rewrote|rewritten|renamed|added|removed|deleted|moved|replaced"
    "|extracted|split|created|reverted|bumped|introduced|implemented|simplified|migrated|switched|cleaned up|merged"
    "|inlined|patched|converted|dropped|upgraded|downgraded|pinned|wrapped|corrected"
)
_RESULTS = (
    "passed|pass|passes|succeeded|succeeds|successful(?:ly)?|failed|failing|completed|finished|without (?:any )?(?:errors?"
    "|problems?|issues?)|green|live|up and running|works|dropped|fell|rose|increased|improved|reduced|decreased"
    r"|went (?:down|up|back)|match(?:es)?|back to normal|loaded|restored|took \d|in \d+ (?:ms|seconds|minutes|hours)|\d+ ?%"
)
_THINGS = (
    "tests?|test suite|suite|build|image|deployment|deploy|migration|release|pipeline|benchmarks?|index|model|accuracy"
    "|import|script|job|backup|database|cluster|container|server|service|rollback|staging|production|ci|version"
    r"|rows|records|dataset|p9\d|latency|throughput|error rate|branch|pull request|package|v\d[\w.]*"
)
_FAULTS = (
    r"\w*(?:Error|Exception)|bugs?|errors?|exceptions?|crash(?:es|ed)?|failures?|memory leak|leaks?|timeouts?|deadlocks?"
    "|race conditions?|warnings?|tracebacks?|segfaults?|regressions?|outages?|blue screen|(?:404|500|502|503)s?|conflicts?"
    "|null pointers?|missing symbol|broken builds?|infinite loops?|data loss"
)

EN: Final = Rules(
    others=_re(
        r"\b(?:he|she|they|his|her|their|my (?:daughter|son|kids?|wife|husband|boss|mom|mum|dad|mother|father|sister|brother"
        r"|friend|neighbou?r)) (?:\w+ ){0,2}?(?:decided|agreed|chose|fixed|changed|solved|said|told|wrote|must|has to|have to)\b"
    ),
    decided=_re(
        rf"\b{_US}(?:'ve|'d)?{_ADVERBS} (?:decided (?:to|on|that|against|not to|upon|in favou?r)|agreed (?:to|on|that|not to)"
        r"|(?:chose|chosen) (?!to (?:write|make|go)\b)(?:to\b|[\w.-]+ (?:[\w'.-]+ ){0,3}?(?:because|over|instead|rather))|settled (?:on|for)|opted (?:for|to|against|out)|resolved to\b|committed to\b|made up (?:my|our) minds?)"
        r"|\b(?:final |our |the )decision (?:is|was)\b|^decision:|\b(?:it|that) (?:was|has been|is) (?:decided|agreed)\b"
        r"|\bwe(?:'re| are) (?:going with|switching to|standardi[sz]ing on|sticking with)\b"
    ),
    chosen=_re(
        r"\b(?:let's|let us|we'll|we will|i'll) (?:go (?:with|for)|stick (?:with|to)|settle on)\b(?! (?:it|you|a (?:walk|drive|run|swim|hike))\b)"
    ),
    undecided=_re(
        r"\b(?:not|n't|never|yet to) (?:\w+ ){0,2}(?:decided?|agreed?|chosen|settled?)\b|\bundecided\b|still deciding"
    ),
    required=_re(
        r"\b(?:the|this|that|our|all|every|each|any|no|these|those|its|your|\w+s|users?(?: \w+){0,3}) (?:[\w'-]+ ){0,4}?"
        r"(?:(?<!a )must(?: not|n't)? (?!have\b)|has to|have to|needs to|(?<=s )need to|shall(?: not| never)? |(?:is|are) (?:required|not allowed|forbidden)"
        r"(?: to)?)"
        r"|^(?:hard )?requirements?\b ?(?:is|are|:)|\b(?:mandatory|essential|required) that\b|^(?:please )?(?:make sure|ensure)\b(?! (?:you|yours?|to)\b)"
        r"|\bi (?:need|require) (?:the|this|all|every|each|it) (?:[\w'-]+ ){0,4}?to \w+|\bi (?:need|require) an? (?:[\w'-]+ ){1,4}?that \w+"
        r"|\bi (?:need|want) you to (?!know|be\b|have\b|meet|come|see|feel|think|stay|enjoy|visit|tell|hear)\w+"
    ),
    not_required=_re(
        r"\b(?:i|we|you|he|she|they|it|that|this|there) (?:just |really |all |both |also )?(?:must|have to|has to|need to|needs to)"
        r" (?:be (?:so|such|very|really|a|an|great|nice|hard|tough|fun|exciting|amazing|proud|cold|hot|tired)|have been|go\b|get\b"
        r"|admit|say\b|buy|feel|leave|catch|run\b|see\b|try\b|check it|tell)"
        r"|\b(?:i|we|you|he|she|they) (?:must|have to|need to)\b|\bmust (?:be|feel) (?:an? )?(?:so|such|very|really|quite|\w+ing|hard|tough|nice|great|wonderful|incredible|tired|happy|fun|proud|tasty|cool)\b"
        r"|(?:don't|doesn't|not) (?:have|need) to\b|needs? to (?:relax|rest|sleep|eat|talk|know)\b|\bmake sure you (?:rest|eat|sleep|take care)"
    ),
    code=_re(
        r"\b(?:function|functions|methods?|class|classes|modules?|endpoints?|schema|quer(?:y|ies)|unit tests?|test cases?|components?"
        r"|configuration|handlers?|parser|decorators?|middleware|controllers?|dependenc(?:y|ies)|pipeline|workflow|codebase"
        r"|refactor\w*|source code|index on|migration|api)\b"
    ),
    changed=_re(
        rf"\b(?:i|we)(?:'ve| have| had| also| just| then| already| now)* (?:{_PAST}|fixed)\b|^(?:also |then |now |just |finally )?"
        rf"(?:{_PAST}|fixed)\b|\b(?:was|were|has been|have been|is now|are now) (?:{_PAST}|fixed)\b|\b(?:and|,) (?:{_PAST}) "
    ),
    not_yet=_re(
        r"\b(?:not|n't|never|cannot|yet to|about to|need to|needs to|has to|have to|must|to-do|todo|tomorrow|next week|later)"
        r" (?:\w+ ){0,2}?(?:chang|modif|updat|edit|refactor|rewr|renam|add|remov|delet|mov|replac|fix|solv|resolv|deploy|run|pass|"
        r"finish|complet)\w*\b(?<!passed)"
    ),
    why=_re(
        r"\b(?P<why>(?:because|since|so that|in order to|due to|as it|to (?:avoid|prevent|make|allow|support|reduce|improve|handle|stop"
        r"|speed|keep|satisfy|fix|use|stream|let|ensure|match|cut|simplify))\b.+)$"
    ),
    error=_re(rf"\b(?:{_FAULTS}|failed|problem|issue)\b"),
    fixed=_re(
        r"\b(?:fixed|solved|resolved|worked around|got rid of|cured|patched|is fixed|the fix (?:was|is)|solution was|does the trick"
        r"|did the trick|went away|is gone|no longer (?:crashes|fails|happens|occurs))\b"
    ),
    it_fixed=_re(
        r"^(?:\w+ ){0,3}?(?:fixed|solved|resolved) (?:it|this|that)\b|\b(?:that|this|it) (?:fixed|solved|resolved) (?:it|the)\b"
        r"|^(?:fixed|solved|resolved) (?:by|with)\b|\bthe fix (?:was|is)\b"
    ),
    not_fixed=_re(
        r"\b(?:not|n't|never|cannot|unable to|trying to|how to) (?:\w+ ){0,2}?(?:fix|solv|resolv)\w*|unresolved|unsolved"
    ),
    hit=_re(
        r"\b(?:get|gets|getting|got|hit|hits|see|seeing|saw|throws?|threw|raises?|raised|crashes|crashed|fails?|failed|failing"
        r"|returns?|returned|caused|encountered|ran into|reports?|reported)\b"
    ),
    fault=_re(rf"\b(?:{_FAULTS})\b"),
    life=_re(
        r"\b(?:wedding|dinner|life|relationship|marriage|toy|cooking|recipe|homework|errors are|my (?:car|bike|back|knee)|family|health"
        r"|learning from)\b"
    ),
    step=_re(
        rf"\b(?:{_THINGS})\b|\b(?:ran|executed|deployed|built|released|migrated|installed|benchmarked|trained|published|shipped|restored"
        r"|imported|rolled back|provisioned|verified|upgraded)\b(?! (?:in|by|through|to) the (?:park|woods|beach|river))"
    ),
    result=_re(
        rf"\b(?:{_THINGS})\b[^.]*?\b(?:{_RESULTS})|\b(?:deployed|released|migrated|published|shipped|restored|executed|ran|tested"
        rf"|benchmarked|trained|rolled back|verified|imported|upgraded)\b[^.]*?\b(?:{_RESULTS})"
    ),
    bad=_re(r"\b(?:failed|fails|failing|failures?|broke|broken|timed out|crashed)\b"),
    praise=_re(
        r"\b(?:that|it|this|everything|your (?:fix|solution|answer|suggestion|code|approach)|the (?:fix|solution)|now it)"
        r"(?:'s| is| has| now| finally| really| all| just)* (?:worked|works|work now|fixed it|fixed the|solved|resolved|helped|helps|did the trick"
        r"|exactly what (?:i|we) (?:needed|wanted|asked)|correct|spot on|working(?: now| again)?|runs(?: now)?|perfect)\b"
        r"|^(?:perfect|exactly what (?:i|we) (?:needed|wanted)|well done|spot on)\b"
        r"|\b(?:great|good|excellent|nice|fantastic|amazing) (?:job|work)\b(?!,? (?:at|with) (?:the|your) (?:race|kids|game))"
    ),
    complaint=_re(
        r"\b(?:that|this|it)(?:'s| is| was) (?:\w+ )?(?:wrong|incorrect|not (?:right|correct|what (?:i|we) (?:asked|wanted|meant|need(?:ed)?))"
        r"|useless|terrible|worse|broken|not good enough|not working)\b|\b(?:does not|doesn't|did not|didn't|won't) (?:\w+ )?(?:work|help|fix|compile|run)\b"
        r"|\bstill (?:broken|failing|fails|not working|the same|wrong|crashes|does not|doesn't|getting)\b"
        r"|^(?:no, )?you (?:\w+ )?(?:broke|misunderstood|ignored|forgot|missed|skipped|deleted the wrong)\b|\bnot what (?:i|we) (?:asked|wanted|meant)\b"
        r"|\bmade (?:it|things) worse\b|\bi (?:already )?told you\b|^(?:no, )?wrong[,.! ]"
    ),
)

_DONE = r"(?:了|过|完|好|掉|已|已经|成功)"
_CHANGE = (
    "修改|改动|更改|改成|改为|改用|改了|更新|重构|重写|删除|删掉|删去|新增|添加|增加|加了|加上|调整|替换|换成|移除|移到|移动|拆成|拆分|抽取|提取|重命名"
    "|改名|合并|优化|迁移到|升级|降级|引入|实现|封装|简化|回退|还原"
)
_WRONG = r"\w*(?:Error|Exception)|报错|错误|异常|崩溃|闪退|蓝屏|bug|BUG|Bug|缺陷|故障|内存泄漏|泄漏|溢出|死锁|竞态|超时|警告|卡死|空指针|[45]0[0-9]\s*错误"
ZH: Final = Rules(
    others=_re(
        r"(?:^|[，,])(?:他们?|她们?|女儿|儿子|老公|老婆|妈妈?|爸爸?|朋友|邻居|妹妹|姐姐|哥哥|弟弟|孩子)[^，。]{0,6}(?:决定|选择|修好|改了|解决|必须|说)"
        r"|(?:老板|领导|他|她|朋友)说[：:，]?\s*$"
    ),
    decided=_re(
        r"(?:^|[，,：:])(?:最终|最后|所以|于是|经过[^，]{0,10}，)?(?:我们?|咱们|大家|团队|会上|公司|董事会|项目组)?[^，。,]{0,8}?(?:决定(?!权|性|于|了吗|不了)|商定|敲定|选定|拍板|一致同意"
        r"|达成一致|下定决心|定下来)"
        r"|(?:我们?|咱们|团队|大家)[^，。]{0,6}(?:选择了|确定(?:采用|使用|用|由|把|选)|同意(?:采用|使用|用|把|由|每))"
        r"|就这么(?:定|办)了?|^(?:最终)?(?:结论|决定)[：:]|(?:方案|计划|时间|日期)定(?:为|在|下)"
    ),
    chosen=_re(r"(?:就|那就|还是)(?:选|用|采用|按)[^，。吗]{1,20}(?:吧|了)|[，,]定了"),
    undecided=_re(
        r"(?:没|没有|未|尚未|还没|无法|难以|不能|不好)(?:有)?(?:最终|完全|能)?(?:决定|确定|定下|商定|敲定|选定)|由(?:你|他|她|您|大家)[^，]{0,3}决定|决定不了|决定权|取决"
    ),
    required=_re(
        r"(?:必须|务必|不得(?!不|了|已)|严禁|禁止|不允许|一定要|硬性要求|不可以|不能(?:超过|少于|低于|高于|出现|包含|大于|小于|泄露|保存|存储))"
        r"|^(?:具体|硬性|我的|客户)?(?:要求|需求)(?:是|如下|：|:)|(?:接口|系统|页面|应用|程序|脚本|报告|代码|功能|模块|服务|平台|文件|网站|都)[^，。]{0,6}(?:需要|需|要)(?:能|能够)?(?:支持|兼容|包含|用|采用|符合|返回|满足|提供)"
    ),
    not_required=_re(
        r"(?:我们?|你们?|他们?|她们?|咱们?)(?:今天|明天|现在|也|都|真的?|可|得)*(?:必须|一定要|务必|不能)(?!.*(?:格式|接口|代码|返回|回答|每次))|必须(?:承认|说|的$)|不得不|一定要(?:幸福|开心|注意身体|加油|来)"
    ),
    code=_re(
        r"函数|方法|类|模块|接口|脚本|配置|表结构|组件|迁移|测试用例|字段|索引|流水线|依赖|中间件|控制器|代码|装饰器|解析器|数据库表|仓库"
    ),
    changed=_re(
        rf"(?:{_CHANGE})[^，。]{{0,40}}?{_DONE}|(?:已经?|已将|刚刚?|我们?)[^，。]{{0,24}}?(?:{_CHANGE})|把[^，。]{{1,30}}(?:{_CHANGE})|^(?:{_CHANGE})|给[^，。]{{1,20}}(?:加了|增加了|添加了)"
    ),
    not_yet=_re(
        r"(?:没|没有|未|还没|尚未|别|不要|需要|必须|将要|待|明天|下周|之后再|正要|想)[^，。]{0,8}(?:修改|改|更新|重构|重写|删|新增|添加|加|调整|替换|移|拆|修复|解决|部署|运行)"
    ),
    why=_re(
        r"(?P<why>(?:因为|由于|为了|以便|避免|防止|以免|从而|用来|用于|目的是|原因是|好让|让|来(?:支持|减少|提高|加快|处理))[^，。；!！]+)"
    ),
    error=_re(rf"{_WRONG}|失败|问题"),
    fixed=_re(
        r"(?:修复|修好|解决|搞定|排除|消除|绕过|处理好)(?!办法是什么|方案)|(?:修复|解决)(?:办法|方法|方案)是|恢复正常|就好了|不再(?:报错|崩溃|出现)|没再(?:报错|出现|崩溃)"
    ),
    it_fixed=_re(r"^(?:已经?)?(?:修复|修好|解决|搞定)|(?:后|之后|就)(?:解决|好|修好|恢复)"),
    not_fixed=_re(
        r"(?:没|没有|未|无法|不能|还没|尚未|难以|怎么|如何|想|试图)[^，。]{0,3}(?:修复|修好|解决|搞定|排除)|解决不了|修不好"
    ),
    hit=_re(
        r"报(?:了|出)?[^，。]{0,10}(?:错|\w*Error|\w*Exception)|报错|崩溃|蓝屏|闪退|溢出|超时|出现[^，。]{0,12}(?:错误|异常|问题)|抛出|遇到|卡死|异常"
    ),
    fault=_re(_WRONG),
    life=_re(r"婚礼|人生|生活|学习的一部分|做饭|犯(?:了个?|过)?错|感情|家里|玩具|作业|心情"),
    step=_re(
        r"测试|用例|部署|构建|编译|发布|迁移|安装|训练|合并|上线|回滚|恢复|备份|升级|压测|导入|导出|执行|运行|脚本|版本|流水线|p9\d|准确率|数据库|服务"
    ),
    result=_re(
        r"(?:测试|用例|部署|构建|编译|发布|迁移|安装|训练|合并|上线|回滚|恢复|备份|升级|压测|导入|导出|执行|运行|脚本|版本|流水线)[^。]*?(?:通过|成功|失败|完成|完毕|用时|耗时|降到|降低|降至|下降|提升|提高|上升|恢复(?:到)?正常|没有报错|无报错|一致|"
        r"\d+(?:\.\d+)?\s*%)"
    ),
    bad=_re(r"失败|没有?通过|未通过|超时|不通过|报错(?<!没有报错)(?<!无报错)|崩溃"),
    praise=_re(
        r"(?:问题|终于|都|已经?|成功|方法|方案|这下|现在|你的[^，。]{1,6})[^，。]{0,3}(?:解决了|搞定了|可以了|能跑了?|能用了|好了|有效|管用|通过了)"
        r"|^(?:解决了|搞定了|可以了|成功了|有效|管用|能用了)|正是我(?:想要|要|需要)的|^(?:完美|太完美了|非常完美|没错就是)|(?:干|做|写|总结|回答)得?(?:很|非常|真|太)?(?:好|漂亮|不错|棒|准确)|很满意"
    ),
    complaint=_re(
        r"^(?:不|还是|这|你|完全|根本)?(?:不对|错了|不行|没用|没有用)|(?:还是|依然|仍然|仍)(?:不行|报错|失败|一样|不对|有问题|没解决|跑不起来|打不开)|不是我(?:要|想|说|的意思)"
        r"|没有?解决|又(?:报错|失败|坏|错)了|你(?:又|还是)?(?:理解错|忘了|搞错|弄错|漏了|没听懂|没明白)|更糟|太差|不满意|答非所问"
    ),
)
