"""The web front: one page, made on the server in English or Chinese, with a little script for the requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from examples.learning_assistant.learner import Completion, Language, LearningStyle, Level, Rating

_HERE: Final = Path(__file__).parent
_templates = Jinja2Templates(_HERE / "templates")

WORDS: Final[dict[str, dict[Language, str]]] = {
    "title": {"en": "Learning assistant", "zh": "学习助手"},
    "other": {"en": "中文", "zh": "English"},
    "scripted": {
        "en": "Scripted tutor: no language model is connected. Set MODEL and OPENAI_API_KEY to get one.",
        "zh": "脚本老师：没有连接语言模型。设置 MODEL 和 OPENAI_API_KEY 即可连接。",
    },
    "student": {"en": "Student", "zh": "学生"},
    "user_id": {"en": "User id", "zh": "用户编号"},
    "open": {"en": "Open", "zh": "打开"},
    "name": {"en": "Name", "zh": "姓名"},
    "style": {"en": "Learning style", "zh": "学习方式"},
    "subjects": {"en": "Subjects, by commas", "zh": "科目（用逗号分隔）"},
    "preference": {"en": "Difficulty", "zh": "难度"},
    "save": {"en": "Save profile", "zh": "保存资料"},
    "edit": {"en": "Profile", "zh": "资料"},
    "ask": {"en": "Ask the tutor", "zh": "问老师"},
    "question": {"en": "Your question", "zh": "你的问题"},
    "subject": {"en": "Subject", "zh": "科目"},
    "send": {"en": "Ask", "zh": "提问"},
    "thinking": {"en": "Thinking …", "zh": "思考中……"},
    "recalled": {"en": "What the tutor remembered for this", "zh": "老师为此记起的内容"},
    "next": {"en": "What comes next", "zh": "接下来学什么"},
    "reviews": {"en": "Due for review", "zh": "该复习了"},
    "practice": {"en": "Practice", "zh": "练习"},
    "answer": {"en": "Answer", "zh": "回答"},
    "check": {"en": "Check", "zh": "检查"},
    "right": {"en": "Right.", "zh": "正确。"},
    "wrong": {"en": "Not quite. The answer:", "zh": "不对。答案："},
    "topics": {"en": "Progress", "zh": "学习进度"},
    "understanding": {"en": "Understanding", "zh": "理解程度"},
    "minutes": {"en": "min", "zh": "分钟"},
    "status": {"en": "Status", "zh": "状态"},
    "report_send": {"en": "Report", "zh": "报告"},
    "report": {"en": "Lesson", "zh": "课程"},
    "memory": {"en": "What is remembered", "zh": "记住了什么"},
    "replaced": {"en": "replaced", "zh": "已更新"},
    "export": {"en": "Export everything", "zh": "导出全部"},
    "forget": {"en": "Delete everything", "zh": "删除全部"},
    "sure": {"en": "Delete everything that is kept of this student?", "zh": "删除这个学生的全部记录？"},
    "forgotten": {"en": "records erased; verified:", "zh": "条记录已删除；核实："},
    "nothing": {"en": "Nothing here now.", "zh": "现在没有。"},
    "failed": {"en": "That did not work:", "zh": "出错了："},
    "level": {"en": "Level", "zh": "难度"},
    "mastery": {"en": "mastery", "zh": "掌握"},
    "due": {"en": "review", "zh": "复习"},
    "strong": {"en": "strength", "zh": "强项"},
    "weak": {"en": "weakness", "zh": "弱项"},
    "developing": {"en": "coming along", "zh": "进步中"},
    "visual": {"en": "visual", "zh": "视觉"},
    "auditory": {"en": "auditory", "zh": "听觉"},
    "reading": {"en": "reading", "zh": "阅读"},
    "kinesthetic": {"en": "kinesthetic", "zh": "动手"},
    "beginner": {"en": "beginner", "zh": "初级"},
    "intermediate": {"en": "intermediate", "zh": "中级"},
    "advanced": {"en": "advanced", "zh": "高级"},
    "started": {"en": "started", "zh": "已开始"},
    "in_progress": {"en": "in progress", "zh": "进行中"},
    "completed": {"en": "completed", "zh": "已完成"},
    "stepwise": {"en": "step by step", "zh": "分步讲解"},
    "worked": {"en": "with an example", "zh": "举例讲解"},
    "brief": {"en": "brief", "zh": "简短讲解"},
    "again": {"en": "Forgotten", "zh": "忘了"},
    "hard": {"en": "Hard", "zh": "较难"},
    "good": {"en": "Good", "zh": "良好"},
    "easy": {"en": "Easy", "zh": "轻松"},
}


def language_for(request: Request, wanted: str | None) -> Language:
    """The page's language: the one asked for, else the browser's, else English."""
    if wanted in ("en", "zh"):
        return "zh" if wanted == "zh" else "en"
    first = request.headers.get("accept-language", "").strip().lower()
    return "zh" if first.startswith("zh") else "en"


def add(app: FastAPI) -> None:
    """Serve the page at `/` and its files under `/static`."""
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def page(request: Request, lang: str | None = None, user: str = "") -> Any:
        """The page, for a student."""
        assistant = request.app.state.assistant
        language = language_for(request, lang)
        found = {key: texts[language] for key, texts in WORDS.items()}
        return _templates.TemplateResponse(
            request, "page.html",
            {
                "t": found, "lang": language, "user": user, "scripted": assistant.scripted,
                "styles": list(LearningStyle), "levels": list(Level), "ratings": list(Rating), "done": list(Completion),
                "subjects": [(each.id, each.title.in_(language)) for each in assistant.catalogue.subjects.values()],
                "lessons": [(each.id, each.title.in_(language)) for each in assistant.catalogue.lessons.values()],
            },
        )  # fmt: skip
