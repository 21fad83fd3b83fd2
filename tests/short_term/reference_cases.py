"""Conversations, phrases said after them, and what each phrase means; half English, half Chinese.

A turn is (role, text), or ("call", tool, arguments, output) for a tool call with its result; an output that
is an exception failed. `None` as the meaning says that nothing of the kind was mentioned.
"""

from __future__ import annotations

import random
from typing import Any, Final

Turn = tuple[Any, ...]

FILES_EN: Final[list[Turn]] = [
    ("user", "Please read /home/ann/plans/q3_report.pdf before the meeting."),
    ("assistant", "Done. The report mentions budget.xlsx for the figures."),
    ("user", "Right, and the photos are in team.jpg. The deploy script is deploy.sh."),
    ("assistant", "I see them all."),
]
FILES_ZH: Final[list[Turn]] = [
    ("user", "请先看一下季度报告.pdf，开会要用。"),
    ("assistant", "看完了，里面的数字来自预算表.xlsx。"),
    ("user", "对，照片在合影.jpg里，部署脚本是deploy.sh。"),
    ("assistant", "都看到了。"),
]
LIST_EN: Final[list[Turn]] = [
    ("user", "Which files are in the folder?"),
    ("call", "list_files", {"path": "/srv/data"}, "alpha.csv\nbeta.csv\ngamma.csv"),
    ("assistant", "There are three: alpha.csv, beta.csv and gamma.csv."),
    ("user", "ok"),
]
LIST_ZH: Final[list[Turn]] = [
    ("user", "文件夹里有哪些文件？"),
    ("call", "list_files", {"path": "/srv/data"}, "甲.csv\n乙.csv\n丙.csv"),
    ("assistant", "一共三个：甲.csv、乙.csv、丙.csv。"),
    ("user", "好的"),
]
LINKS_EN: Final[list[Turn]] = [
    ("user", "I found this tutorial: https://docs.example.org/intro and like it."),
    ("assistant", "Thanks! You might also like https://blog.example.com/vectors, an article on vectors."),
    ("user", "My repo is at https://github.com/ann/searcher by the way."),
    ("assistant", "Noted. Write to help@example.org if the build fails."),
]
LINKS_ZH: Final[list[Turn]] = [
    ("user", "我找到一个教程：https://docs.example.org/intro，挺不错的。"),
    ("assistant", "谢谢！你可能也会喜欢https://blog.example.com/vectors，这是一篇讲向量的文章。"),
    ("user", "对了，我的仓库在https://github.com/ann/searcher。"),
    ("assistant", "记下了。构建失败的话写信到help@example.org。"),
]
ERRORS_EN: Final[list[Turn]] = [
    ("user", "Run the tests and then fetch the page."),
    ("call", "run_tests", {"path": "tests"}, RuntimeError("ImportError: No module named 'foo'")),
    ("assistant", "The tests fail. I fetch the page first."),
    ("call", "fetch", {"url": "https://status.example.com"}, RuntimeError("TimeoutError: no answer after 30 s")),
    ("call", "fetch", {"url": "https://mirror.example.com"}, "<html>All systems up</html>"),
    ("assistant", "The mirror answers: all systems are up."),
]
ERRORS_ZH: Final[list[Turn]] = [
    ("user", "先跑测试，再抓取页面。"),
    ("call", "run_tests", {"path": "tests"}, RuntimeError("ImportError: 找不到模块foo")),
    ("assistant", "测试没通过，我先抓页面。"),
    ("call", "fetch", {"url": "https://status.example.com"}, RuntimeError("TimeoutError: 30秒没有响应")),
    ("call", "fetch", {"url": "https://mirror.example.com"}, "<html>系统正常</html>"),
    ("assistant", "镜像站有响应：系统正常。"),
]
PEOPLE_EN: Final[list[Turn]] = [
    ("user", "My sister Anna works at Siemens in Berlin."),
    ("assistant", "Nice! What does she do there?"),
    ("user", "She builds trains. I had lunch with Peter yesterday, he runs the Phoenix project."),
    ("assistant", "Is the Phoenix project related to project Apollo?"),
    ("user", "No, Apollo is Dr. Chen's."),
    ("assistant", "I see."),
]
PEOPLE_ZH: Final[list[Turn]] = [
    ("user", "我姐姐王芳在西门子工作。"),
    ("assistant", "真好！她做什么？"),
    ("user", "她造火车。昨天我和李雷吃了午饭，他负责凤凰项目。"),
    ("assistant", "凤凰项目和阿波罗项目有关系吗？"),
    ("user", "没有，阿波罗是陈博士的。"),
    ("assistant", "明白了。"),
]
IDS_EN: Final[list[Turn]] = [
    ("user", "My order 48213 has not arrived, and ticket SUP-77 is still open."),
    ("call", "find_order", {"order_id": "48213"}, {"order": "48213", "tracking": "1Z999AA10123456784"}),
    ("assistant", "It is on its way with tracking number 1Z999AA10123456784. I also see your order 50001."),
    ("user", "The bug is tracked as issue #312."),
    ("assistant", "Thank you."),
]
IDS_ZH: Final[list[Turn]] = [
    ("user", "我的订单48213还没到，工单SUP-77也没处理。"),
    ("call", "find_order", {"order_id": "48213"}, {"order": "48213", "tracking": "SF1234567890"}),
    ("assistant", "正在路上，快递单号SF1234567890。另外我看到您的订单50001。"),
    ("user", "这个问题登记为issue #312。"),
    ("assistant", "谢谢。"),
]
OPTIONS_EN: Final[list[Turn]] = [
    ("user", "Where should we eat on Friday?"),
    ("assistant", "Three ideas:\n1. Sushi at the harbour\n2. Pizza in the old town\n3. A picnic in the park"),
    ("user", "Hmm, let me think."),
]
OPTIONS_ZH: Final[list[Turn]] = [
    ("user", "周五去哪儿吃饭？"),
    ("assistant", "三个建议：\n1. 码头的寿司\n2. 老城的披萨\n3. 公园野餐"),
    ("user", "嗯，我想想。"),
]
DRAFTS_EN: Final[list[Turn]] = [
    ("user", "I uploaded contract_v1.docx and later contract_v2.docx for the Berlin office."),
    ("call", "read_file", {"path": "contract_v2.docx"}, "This contract ..."),
    ("call", "write_file", {"path": "out/summary.md", "text": "..."}, "ok"),
    ("assistant", "I wrote the summary to out/summary.md."),
    ("user", 'There is also the document "Hiring Plan" for the Paris office.'),
    ("assistant", "I will look for it."),
]
DRAFTS_ZH: Final[list[Turn]] = [
    ("user", "我上传了合同一.docx，后来又上传了合同二.docx，是柏林办公室的。"),
    ("call", "read_file", {"path": "合同二.docx"}, "本合同……"),
    ("call", "write_file", {"path": "out/摘要.md", "text": "……"}, "ok"),
    ("assistant", "我把摘要写到了out/摘要.md。"),
    ("user", "还有一份《招聘计划》，是巴黎办公室的。"),
    ("assistant", "我找一下。"),
]
TALK_EN: Final[list[Turn]] = [
    ("user", "I like tea."),
    ("assistant", "Green or black?"),
    ("user", "Green."),
]
TALK_ZH: Final[list[Turn]] = [
    ("user", "我喜欢喝茶。"),
    ("assistant", "绿茶还是红茶？"),
    ("user", "绿茶。"),
]

AGENT_EN: Final[list[Turn]] = [
    ("user", "Can you check why the nightly build broke? The pipeline is defined in ci/pipeline.yaml."),
    ("call", "read_file", {"path": "ci/pipeline.yaml"}, "steps:\n  - run: make build"),
    ("call", "run_command", {"command": "make build"}, RuntimeError("Error: linker not found")),
    ("assistant", "The build fails because the linker is missing. I can patch ci/build.sh or open a ticket."),
    ("user", "Open a ticket please, and let Maria know."),
    (
        "call",
        "create_ticket",
        {"title": "linker missing"},
        {"ticket": "OPS-1042", "url": "https://tracker.example.com/OPS-1042"},
    ),
    ("assistant", "I created ticket OPS-1042: https://tracker.example.com/OPS-1042. Shall I write to Maria?"),
]
AGENT_ZH: Final[list[Turn]] = [
    ("user", "帮我看看昨晚的构建为什么失败，流水线写在ci/pipeline.yaml里。"),
    ("call", "read_file", {"path": "ci/pipeline.yaml"}, "steps:\n  - run: make build"),
    ("call", "run_command", {"command": "make build"}, RuntimeError("错误：找不到链接器")),
    ("assistant", "构建失败是因为缺少链接器。我可以改ci/build.sh，或者开一个工单。"),
    ("user", "开工单吧，再告诉刘芳一声。"),
    (
        "call",
        "create_ticket",
        {"title": "缺少链接器"},
        {"ticket": "OPS-1042", "url": "https://tracker.example.com/OPS-1042"},
    ),
    ("assistant", "工单OPS-1042已创建：https://tracker.example.com/OPS-1042。需要我写信给刘芳吗？"),
]
TRIP_EN: Final[list[Turn]] = [
    ("user", "I booked the hotel in Lisbon, booking QX7781, and my boss Tom joins us."),
    ("assistant", "Lovely. The itinerary is in trip.docx and the tickets are in tickets.pdf."),
    ("user", "My wife Clara would rather stay in Porto, she hates big cities."),
    ("assistant", "Then these could suit her:\n- Casa do Rio\n- Hotel Infante\n- Vila Galé"),
    ("user", "Which of these has a pool? I saw a review on https://travel.example.com/porto."),
]
TRIP_ZH: Final[list[Turn]] = [
    ("user", "我订了里斯本的酒店，预订号QX7781，我老板王强也去。"),
    ("assistant", "太好了。行程在行程.docx里，车票在车票.pdf里。"),
    ("user", "我妻子张丽更想住波尔图，她不喜欢大城市。"),
    ("assistant", "那这几家可能适合她：\n- 河畔之家\n- 王子酒店\n- 加莱别墅"),
    ("user", "哪家有泳池？我在https://travel.example.com/porto看到一篇点评。"),
]
WORK_EN: Final[list[Turn]] = [
    ("user", "Compare 'Sales 2024.xlsx' with 'Sales 2025.xlsx' and put the chart into chart.png."),
    ("call", "load", {"file": "Sales 2024.xlsx"}, "120 rows"),
    ("call", "load", {"file": "Sales 2025.xlsx"}, RuntimeError("FileNotFoundError: Sales 2025.xlsx")),
    ("assistant", "I could not load the second workbook. Is it in /mnt/share/finance?"),
    ("user", "Yes. Also send the result to Olga, her team at Volvo is waiting."),
    ("call", "load", {"file": "/mnt/share/finance/Sales 2025.xlsx"}, "140 rows"),
    ("assistant", "Loaded. Sales rose by 17 %; see chart.png."),
    ("user", "Invoice INV-2025-118 is still missing from the archive backup.zip."),
]
WORK_ZH: Final[list[Turn]] = [
    ("user", "把“销售2024.xlsx”和“销售2025.xlsx”对比一下，图放到图表.png里。"),
    ("call", "load", {"file": "销售2024.xlsx"}, "120行"),
    ("call", "load", {"file": "销售2025.xlsx"}, RuntimeError("FileNotFoundError: 销售2025.xlsx")),
    ("assistant", "第二个工作簿打不开，它在/mnt/share/finance里吗？"),
    ("user", "是的。另外把结果发给赵敏，她在沃尔沃公司的团队在等。"),
    ("call", "load", {"file": "/mnt/share/finance/销售2025.xlsx"}, "140行"),
    ("assistant", "打开了。销售额增长了17%，见图表.png。"),
    ("user", "备份.zip里还缺发票INV-2025-118。"),
]

STUDY_EN: Final[list[Turn]] = [
    ("user", "Hi! My professor, Dr. Novak, gave me two papers: attention.pdf and bert.pdf. Could you compare them?"),
    ("call", "read_pdf", {"path": "attention.pdf"}, "We propose a new simple network architecture ..."),
    ("call", "read_pdf", {"path": "bert.pdf"}, "We introduce a new language representation model ..."),
    ("assistant", "Both use the same encoder. A good summary is at https://explain.example.org/transformers."),
    ("user", "Great. My roommate Lena also needs that, she studies at Uppsala. Save it as compare.md, will you?"),
    ("call", "save_note", {"file": "notes/compare.md"}, RuntimeError("PermissionError: notes is read-only")),
    (
        "assistant",
        "I could not save it: the folder is read-only. You could:\n1) choose another folder\n2) change the permissions\n3) let me print it here",
    ),
]
STUDY_ZH: Final[list[Turn]] = [
    ("user", "你好！我导师诺教授给了我两篇论文：注意力.pdf和bert.pdf，能比较一下吗？"),
    ("call", "read_pdf", {"path": "注意力.pdf"}, "我们提出一种新的网络结构……"),
    ("call", "read_pdf", {"path": "bert.pdf"}, "我们提出一种语言表示模型……"),
    ("assistant", "两篇都用了编码器。https://explain.example.org/transformers 有个不错的总结。"),
    ("user", "太好了。我室友林娜也需要，她在乌普萨拉读书。存成对比.md好吗？"),
    ("call", "save_note", {"file": "notes/对比.md"}, RuntimeError("PermissionError: notes只读")),
    ("assistant", "存不了：文件夹是只读的。你可以：\n1、换一个文件夹\n2、改权限\n3、让我直接显示"),
]
SHOP_EN: Final[list[Turn]] = [
    ("user", "I'd like to return the headphones from order A-20931, the invoice is invoice_20931.pdf."),
    (
        "call",
        "lookup_order",
        {"order": "A-20931"},
        {"order": "A-20931", "status": "delivered", "tracking_number": "JD0099887766"},
    ),
    (
        "assistant",
        "I see it was delivered. Please print the label at https://returns.example.com/label/A-20931 or mail returns@example.com.",
    ),
    (
        "user",
        "My husband Marek will bring it. Also the second order, A-20977, hasn't shipped. Here's a photo: IMG_4410.jpeg",
    ),
    ("assistant", "Thanks, I opened case 77120 for order A-20977."),
]
SHOP_ZH: Final[list[Turn]] = [
    ("user", "我想退订单A20931里的耳机，发票是发票20931.pdf。"),
    (
        "call",
        "lookup_order",
        {"order": "A20931"},
        {"order": "A20931", "status": "delivered", "tracking_number": "JD0099887766"},
    ),
    ("assistant", "显示已签收。请在https://returns.example.com/label/A20931打印面单，或发邮件到returns@example.com。"),
    ("user", "我老公马力会拿过去。另外第二个订单A20977还没发货，照片在这里：IMG_4410.jpeg"),
    ("assistant", "谢谢，我为订单A20977开了工单77120。"),
]

Case = tuple[list[Turn], str, str, str | None]  # conversation, phrase, kind, meaning

CASES: Final[list[Case]] = [
    (FILES_EN, "the document I just mentioned", "file", "/home/ann/plans/q3_report.pdf"),
    (FILES_EN, "that spreadsheet", "file", "budget.xlsx"),
    (FILES_EN, "the file you mentioned", "file", "budget.xlsx"),
    (FILES_EN, "the last file", "file", "deploy.sh"),
    (FILES_EN, "the picture", "file", "team.jpg"),
    (FILES_EN, "the first file", "file", "/home/ann/plans/q3_report.pdf"),
    (FILES_EN, "the second file", "file", "budget.xlsx"),
    (FILES_EN, "the script", "file", "deploy.sh"),
    (FILES_EN, "Could you summarise the report for me?", "file", "/home/ann/plans/q3_report.pdf"),
    (FILES_EN, "that link", "url", None),
    (FILES_ZH, "刚才提到的那个文档", "file", "季度报告.pdf"),
    (FILES_ZH, "那个表格", "file", "预算表.xlsx"),
    (FILES_ZH, "你提到的文件", "file", "预算表.xlsx"),
    (FILES_ZH, "最后一个文件", "file", "deploy.sh"),
    (FILES_ZH, "那张照片", "file", "合影.jpg"),
    (FILES_ZH, "第一个文件", "file", "季度报告.pdf"),
    (FILES_ZH, "第二个文件", "file", "预算表.xlsx"),
    (FILES_ZH, "那个脚本", "file", "deploy.sh"),
    (FILES_ZH, "帮我总结一下那份报告", "file", "季度报告.pdf"),
    (FILES_ZH, "那个链接", "url", None),
    (LIST_EN, "the second one", "file", "beta.csv"),
    (LIST_EN, "open the third file", "file", "gamma.csv"),
    (LIST_EN, "the one before the last", "file", "beta.csv"),
    (LIST_EN, "the folder", "folder", "/srv/data"),
    (LIST_EN, "what did the tool return?", "tool", "list_files"),
    (LIST_ZH, "第二个", "file", "乙.csv"),
    (LIST_ZH, "打开第三个文件", "file", "丙.csv"),
    (LIST_ZH, "倒数第二个文件", "file", "乙.csv"),
    (LIST_ZH, "那个文件夹", "folder", "/srv/data"),
    (LIST_ZH, "刚才的工具结果", "tool", "list_files"),
    (LINKS_EN, "that link", "url", "https://github.com/ann/searcher"),
    (LINKS_EN, "the link you sent me", "url", "https://blog.example.com/vectors"),
    (LINKS_EN, "the tutorial", "url", "https://docs.example.org/intro"),
    (LINKS_EN, "the article", "url", "https://blog.example.com/vectors"),
    (LINKS_EN, "my repository", "url", "https://github.com/ann/searcher"),
    (LINKS_EN, "the first link I gave you", "url", "https://docs.example.org/intro"),
    (LINKS_EN, "the previous link", "url", "https://blog.example.com/vectors"),
    (LINKS_EN, "that email address", "email", "help@example.org"),
    (LINKS_ZH, "那个链接", "url", "https://github.com/ann/searcher"),
    (LINKS_ZH, "你发的链接", "url", "https://blog.example.com/vectors"),
    (LINKS_ZH, "那个教程", "url", "https://docs.example.org/intro"),
    (LINKS_ZH, "那篇文章", "url", "https://blog.example.com/vectors"),
    (LINKS_ZH, "我的仓库", "url", "https://github.com/ann/searcher"),
    (LINKS_ZH, "我给你的第一个链接", "url", "https://docs.example.org/intro"),
    (LINKS_ZH, "前一个链接", "url", "https://blog.example.com/vectors"),
    (LINKS_ZH, "那个邮箱", "email", "help@example.org"),
    (ERRORS_EN, "the last error", "error", "TimeoutError: no answer after 30 s"),
    (ERRORS_EN, "the first error", "error", "ImportError: No module named 'foo'"),
    (ERRORS_EN, "the import error", "error", "ImportError: No module named 'foo'"),
    (ERRORS_EN, "the last tool call", "tool", "fetch"),
    (ERRORS_EN, "the page that works", "url", "https://mirror.example.com"),
    (ERRORS_EN, "the error before that", "error", "ImportError: No module named 'foo'"),
    (ERRORS_ZH, "上一个错误", "error", "TimeoutError: 30秒没有响应"),
    (ERRORS_ZH, "第一个报错", "error", "ImportError: 找不到模块foo"),
    (ERRORS_ZH, "找不到模块的那个错误", "error", "ImportError: 找不到模块foo"),
    (ERRORS_ZH, "最后一次工具调用", "tool", "fetch"),
    (ERRORS_ZH, "再前一个错误", "error", "ImportError: 找不到模块foo"),
    (PEOPLE_EN, "her", "entity", "Anna"),
    (PEOPLE_EN, "tell him that I am late", "entity", "Peter"),
    (PEOPLE_EN, "that project", "entity", "Apollo"),
    (PEOPLE_EN, "the first project", "entity", "Phoenix"),
    (PEOPLE_EN, "my sister", "entity", "Anna"),
    (PEOPLE_EN, "that company", "entity", "Siemens"),
    (PEOPLE_EN, "the doctor", "entity", "Dr. Chen"),
    (PEOPLE_ZH, "她", "entity", "王芳"),
    (PEOPLE_ZH, "告诉他我会迟到", "entity", "李雷"),
    (PEOPLE_ZH, "那个项目", "entity", "阿波罗"),
    (PEOPLE_ZH, "第一个项目", "entity", "凤凰"),
    (PEOPLE_ZH, "我姐姐", "entity", "王芳"),
    (PEOPLE_ZH, "那家公司", "entity", "西门子"),
    (PEOPLE_ZH, "那位博士", "entity", "陈博士"),
    (IDS_EN, "that order", "id", "50001"),
    (IDS_EN, "the order I asked about", "id", "48213"),
    (IDS_EN, "the ticket", "id", "SUP-77"),
    (IDS_EN, "that tracking number", "id", "1Z999AA10123456784"),
    (IDS_EN, "that issue", "id", "#312"),
    (IDS_ZH, "那个订单", "id", "50001"),
    (IDS_ZH, "我问的那个订单", "id", "48213"),
    (IDS_ZH, "那个工单", "id", "SUP-77"),
    (IDS_ZH, "快递单号", "id", "SF1234567890"),
    (IDS_ZH, "那个issue", "id", "#312"),
    (OPTIONS_EN, "the second option", "item", "Pizza in the old town"),
    (OPTIONS_EN, "let's take the last one", "item", "A picnic in the park"),
    (OPTIONS_EN, "your first suggestion", "item", "Sushi at the harbour"),
    (OPTIONS_ZH, "第二个选项", "item", "老城的披萨"),
    (OPTIONS_ZH, "就选最后一个吧", "item", "公园野餐"),
    (OPTIONS_ZH, "你的第一个建议", "item", "码头的寿司"),
    (DRAFTS_EN, "the document for the Paris office", "file", "Hiring Plan"),
    (DRAFTS_EN, "the contract for the Berlin office", "file", "contract_v2.docx"),
    (DRAFTS_EN, "the file you wrote", "file", "out/summary.md"),
    (DRAFTS_EN, "the first contract", "file", "contract_v1.docx"),
    (DRAFTS_EN, "the document I just mentioned", "file", "Hiring Plan"),
    (DRAFTS_ZH, "巴黎办公室的那份文档", "file", "招聘计划"),
    (DRAFTS_ZH, "柏林办公室的合同", "file", "合同二.docx"),
    (DRAFTS_ZH, "你写的文件", "file", "out/摘要.md"),
    (DRAFTS_ZH, "第一份合同", "file", "合同一.docx"),
    (DRAFTS_ZH, "我刚才提到的那个文档", "file", "招聘计划"),
    (TALK_EN, "the file", "file", None),
    (TALK_EN, "the last error", "error", None),
    (TALK_ZH, "那个文件", "file", None),
    (TALK_ZH, "上一个错误", "error", None),
    (AGENT_EN, "that ticket", "id", "OPS-1042"),
    (AGENT_EN, "open the link", "url", "https://tracker.example.com/OPS-1042"),
    (AGENT_EN, "the config file", "file", "ci/pipeline.yaml"),
    (AGENT_EN, "what was the last error?", "error", "Error: linker not found"),
    (AGENT_EN, "the command you ran", "tool", "run_command"),
    (AGENT_EN, "send her a message", "entity", "Maria"),
    (AGENT_EN, "the file I mentioned", "file", "ci/pipeline.yaml"),
    (AGENT_EN, "the other file", "file", "ci/pipeline.yaml"),
    (AGENT_ZH, "那个工单", "id", "OPS-1042"),
    (AGENT_ZH, "打开那个链接", "url", "https://tracker.example.com/OPS-1042"),
    (AGENT_ZH, "那个配置文件", "file", "ci/pipeline.yaml"),
    (AGENT_ZH, "上一次报错是什么？", "error", "错误：找不到链接器"),
    (AGENT_ZH, "给她发消息", "entity", "刘芳"),
    (AGENT_ZH, "我提到的文件", "file", "ci/pipeline.yaml"),
    (AGENT_ZH, "另一个文件", "file", "ci/pipeline.yaml"),
    (TRIP_EN, "cancel my booking", "id", "QX7781"),
    (TRIP_EN, "my wife", "entity", "Clara"),
    (TRIP_EN, "my boss", "entity", "Tom"),
    (TRIP_EN, "what does he think?", "entity", "Tom"),
    (TRIP_EN, "the second one", "item", "Hotel Infante"),
    (TRIP_EN, "the first document", "file", "trip.docx"),
    (TRIP_EN, "that review", "url", "https://travel.example.com/porto"),
    (TRIP_EN, "that city", "entity", "Porto"),
    (TRIP_ZH, "取消我的预订", "id", "QX7781"),
    (TRIP_ZH, "我妻子", "entity", "张丽"),
    (TRIP_ZH, "我老板", "entity", "王强"),
    (TRIP_ZH, "第二个", "item", "王子酒店"),
    (TRIP_ZH, "第一份文档", "file", "行程.docx"),
    (TRIP_ZH, "那篇点评", "url", "https://travel.example.com/porto"),
    (TRIP_ZH, "她想住哪儿？", "entity", "张丽"),
    (WORK_EN, "the chart", "file", "chart.png"),
    (WORK_EN, "the spreadsheet from 2024", "file", "Sales 2024.xlsx"),
    (WORK_EN, "the last spreadsheet", "file", "/mnt/share/finance/Sales 2025.xlsx"),
    (WORK_EN, "the error", "error", "FileNotFoundError: Sales 2025.xlsx"),
    (WORK_EN, "that invoice", "id", "INV-2025-118"),
    (WORK_EN, "the zip", "file", "backup.zip"),
    (WORK_EN, "the folder you asked about", "folder", "/mnt/share/finance"),
    (WORK_EN, "ask her about it", "entity", "Olga"),
    (WORK_EN, "her company", "entity", "Volvo"),
    (WORK_ZH, "那张图", "file", "图表.png"),
    (WORK_ZH, "2024年的那个表格", "file", "销售2024.xlsx"),
    (WORK_ZH, "刚才的错误", "error", "FileNotFoundError: 销售2025.xlsx"),
    (WORK_ZH, "那张发票", "id", "INV-2025-118"),
    (WORK_ZH, "那个压缩包", "file", "备份.zip"),
    (WORK_ZH, "你问的那个文件夹", "folder", "/mnt/share/finance"),
    (WORK_ZH, "问问她", "entity", "赵敏"),
    (WORK_ZH, "那家公司", "entity", "沃尔沃"),
    (STUDY_EN, "Please open the second paper again.", "file", "bert.pdf"),
    (STUDY_EN, "What does she study?", "entity", "Lena"),
    (STUDY_EN, "the website you recommended", "url", "https://explain.example.org/transformers"),
    (STUDY_EN, "What exactly went wrong with the last error?", "error", "PermissionError: notes is read-only"),
    (STUDY_EN, "OK, the third option then.", "item", "let me print it here"),
    (STUDY_EN, "my roommate", "entity", "Lena"),
    (STUDY_EN, "write an email to my professor", "entity", "Dr. Novak"),
    (STUDY_EN, "the note you tried to save", "file", "notes/compare.md"),
    (STUDY_EN, "the first paper I gave you", "file", "attention.pdf"),
    (STUDY_EN, "the last command", "tool", "save_note"),
    (STUDY_ZH, "再打开第二篇论文", "file", "bert.pdf"),
    (STUDY_ZH, "她读什么专业？", "entity", "林娜"),
    (STUDY_ZH, "你推荐的网站", "url", "https://explain.example.org/transformers"),
    (STUDY_ZH, "最后那个错误是怎么回事？", "error", "PermissionError: notes只读"),
    (STUDY_ZH, "好，那就第三个选项", "item", "让我直接显示"),
    (STUDY_ZH, "我室友", "entity", "林娜"),
    (STUDY_ZH, "给我导师写封信", "entity", "诺教授"),
    (STUDY_ZH, "我给你的第一篇论文", "file", "注意力.pdf"),
    (SHOP_EN, "where is that parcel now?", "id", "JD0099887766"),
    (SHOP_EN, "the case you opened", "id", "77120"),
    (SHOP_EN, "my first order", "id", "A-20931"),
    (SHOP_EN, "that order", "id", "A-20977"),
    (SHOP_EN, "the photo I sent", "file", "IMG_4410.jpeg"),
    (SHOP_EN, "print the invoice please", "file", "invoice_20931.pdf"),
    (SHOP_EN, "he'll be there at noon", "entity", "Marek"),
    (SHOP_EN, "click on that link", "url", "https://returns.example.com/label/A-20931"),
    (SHOP_EN, "what was the address I should mail?", "email", "returns@example.com"),
    (SHOP_ZH, "那个包裹现在在哪儿？", "id", "JD0099887766"),
    (SHOP_ZH, "你开的那个工单", "id", "77120"),
    (SHOP_ZH, "我的第一个订单", "id", "A20931"),
    (SHOP_ZH, "那个订单", "id", "A20977"),
    (SHOP_ZH, "我发的照片", "file", "IMG_4410.jpeg"),
    (SHOP_ZH, "打印一下发票", "file", "发票20931.pdf"),
    (SHOP_ZH, "他中午到", "entity", "马力"),
    (SHOP_ZH, "点一下那个链接", "url", "https://returns.example.com/label/A20931"),
    (SHOP_ZH, "那个邮箱地址", "email", "returns@example.com"),
]

_BEGINS: Final = [next(place for place, case in enumerate(CASES) if case[0] is turns) for turns in (AGENT_EN, STUDY_EN)]
TRIALS: Final = (range(_BEGINS[0]), range(*_BEGINS), range(_BEGINS[1], len(CASES)))
"""The cases in the order they were written: each trial's conversations are new to what was adjusted to the ones before."""

_DRAW: Final = random.Random(20261130)
HELD_OUT: Final = frozenset(
    place for size, trial in zip((50, 24, 18), TRIALS, strict=True) for place in _DRAW.sample(trial, size)
)
"""Places of the cases that nothing was adjusted to."""


def messages(turns: list[Turn]) -> list[dict[str, Any]]:
    """A conversation as messages, tool calls paired with their results."""
    found: list[dict[str, Any]] = []
    for place, turn in enumerate(turns):
        if turn[0] != "call":
            found.append({"role": turn[0], "content": turn[1], "id": f"m{place}"})
            continue
        _, name, arguments, output = turn
        failed = isinstance(output, Exception)
        call = {"id": f"c{place}", "name": name, "args": arguments}
        found.append({"role": "assistant", "content": None, "tool_calls": [call], "id": f"m{place}"})
        result = {"role": "tool", "content": str(output), "tool_call_id": f"c{place}", "id": f"r{place}"}
        if failed:
            result["payload"] = {"langchain": {"data": {"status": "error"}}}
        elif not isinstance(output, str):
            import json

            result["content"] = json.dumps(output)
        found.append(result)
    return found
