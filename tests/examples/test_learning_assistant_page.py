"""The learning assistant's page (F5) in a real browser: what a student clicks works, and what students write stays text."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from examples.learning_assistant.api import create_app
from examples.learning_assistant.assistant import Assistant
from examples.learning_assistant.learner import Completion, LearningStyle, Level, Student

CHROMIUM = shutil.which("chromium")
REQUIRED = os.environ.get("CI") or os.environ.get("TWINMEM_BROWSER")
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

pytestmark = [
    # In CI a missing browser is a failure: there these tests have to run.
    pytest.mark.skipif(not (CHROMIUM or REQUIRED), reason="no Chromium here: apt-get install chromium"),
    # Playwright's own event loop, closed by it in its own time.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a server with one student listens."""

    def make() -> Assistant:
        assistant = Assistant(embedder="hashing")
        assistant.save_profile(
            Student("s", HOSTILE, LearningStyle.VISUAL, ("mathematics", HOSTILE), Level.BEGINNER, "en")
        )
        assistant.progress("s", "math-fractions", Completion.COMPLETED, 4, 20)
        return assistant

    server = uvicorn.Server(uvicorn.Config(create_app(make), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM, "these tests need Debian's chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        # No sandbox: in a container, and as root, there is none to have.
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    yield opened
    opened.close()


def test_f5_a_student_learns_on_the_page(address: str, page: Page) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept())

    page.goto(f"{address}/?user=s")
    page.wait_for_selector("#memory li")
    assert page.inner_text("#who") == HOSTILE, "text, not markup"
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Learning assistant"

    page.fill("#ask input", f"My notes on fractions: {HOSTILE}")
    page.click("#ask button")
    page.wait_for_selector(".answer")
    page.fill("#ask input", "How do I add fractions?")
    page.click("#ask button")
    page.locator(".answer").get_by_text("common denominator").wait_for()
    page.click("#answer summary")
    assert HOSTILE in page.inner_text("#answer details"), "what was remembered for it, as text"
    assert page.locator("main img, main script").count() == 0
    question = page.locator("#practice form").filter(has_text="Percentages").first
    question.locator("input").fill("8")
    question.locator("button").click()
    question.get_by_text("Right.").wait_for()
    page.select_option("#report [name=content_id]", "math-percent")
    page.select_option("#report [name=completion_status]", "completed")
    page.fill("#report [name=understanding_level]", "5")
    page.click("#report button")
    page.locator("#topics").get_by_text("mastery 100 %").wait_for()

    page.click("#other")
    page.wait_for_selector("#memory li")
    assert page.title() == "学习助手"
    page.click("#forget")
    page.get_by_text("核实： ✓").wait_for()
    assert page.locator("#memory li").count() == 0
    assert not complaints
    assert {url.split("/")[2] for url in asked} == {address.split("/")[2]}, "nothing leaves the machine"


def test_f5_a_new_student_begins_with_a_profile(address: str, page: Page) -> None:
    page.goto(f"{address}/?user=new&lang=zh")
    page.fill("#profile [name=name]", "小雨")
    page.fill("#profile [name=subjects]", "数学、英语")
    page.click("#profile button")
    page.locator("#next").get_by_text("分数加法").wait_for()
    assert page.inner_text("#who") == "小雨"
    page.fill("#report [name=understanding_level]", "3")
    page.evaluate("document.querySelector('#report [name=time_spent]').removeAttribute('max')")
    page.fill("#report [name=time_spent]", "99999")
    page.click("#report button")
    page.locator("#trouble").get_by_text("time_spent").wait_for()
