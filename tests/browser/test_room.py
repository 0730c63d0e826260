"""A class's room in real browsers: the lecturer's page on the wall, and a student's phone."""

import contextlib
import csv
import json
import os
import re
import secrets
import signal
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from websockets.sync.client import connect

from attnviz.pages.lessons.panels import open_lesson
from tests.browser.axe_faults import severe
from tests.browser.conftest import ROOT, Server, at_rest, widest

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
WALL = ".st-key-wall"
PICTURE = ".ph-picture .av-root > *"


@pytest.fixture
def server(servers):
    return servers()


def opened_room(server, new_page, view="", **window):
    """The lecturer's page with a room, and its code."""
    wall = new_page(1280, 720, **{"reduced_motion": "reduce"} | window)
    wall.goto(f"{server.url}/{view}")
    at_rest(wall)
    wall.get_by_role("button", name="Teach").click()
    code = wall.locator(f"{WALL} .wl-join .wl-code")
    expect(code).to_have_text(re.compile("^[BCDFGHJKLMNPQRSTVWXZ]{5}$"))
    return wall, code.text_content()


def joined(server, new_page, code, **more):
    phone = new_page(**PHONE | more)
    phone.goto(f"{server.url}/r/{code}")
    return phone


def does(wall, name):
    wall.locator(f"{WALL} [data-does='{name}']").click()


@contextlib.contextmanager
def classmates(server, code, many):
    """Phones without a screen, each with what it votes."""
    with contextlib.ExitStack() as stack:
        sockets = []
        for _ in range(many):
            address = f"{server.url.replace('http', 'ws')}/r/{code}/socket"
            sockets.append(stack.enter_context(connect(address)))
            sockets[-1].send(json.dumps({"tab": secrets.token_hex(16)}))

        def vote(*words):
            for socket in sockets:
                question = None
                while question is None or question["truth"] is not None:
                    message = socket.recv(timeout=30)
                    question = json.loads(message).get("question") if isinstance(message, str) else None
                taps = [question["words"].index(word) for word in words]
                socket.send(json.dumps({"question": question["id"], "number": 1, "taps": taps}))
                while "counted" not in json.loads(socket.recv(timeout=30)):
                    pass

        yield vote


@pytest.mark.every_commit
def test_a_class_joins_votes_and_sees_its_row_beside_the_models(server, new_page):
    wall, code = opened_room(server, new_page)
    expect(wall.locator(WALL)).to_contain_text("0 are here")
    phone = joined(server, new_page, code)
    expect(phone.locator(PICTURE).first).to_be_visible()
    expect(phone.get_by_role("heading", name="What is attention?")).to_be_visible()
    expect(wall.locator(WALL)).to_contain_text("1 is here")
    assert widest(phone) <= 390
    with classmates(server, code, 4) as vote:
        does(wall, "ask")
        wall.get_by_role("button", name="The animal").click()
        expect(phone.locator(".ph-picture").first).to_be_hidden()
        words = phone.get_by_role("group").get_by_role("button")
        expect(words).to_have_count(12)
        for word in ("animal", "street", "tired", "cross"):
            words.get_by_text(word, exact=True).click()
        expect(phone.locator("[aria-pressed=true]")).to_have_text(["animal", "street", "tired"])
        phone.get_by_role("button", name="Vote").click()
        expect(phone.get_by_role("status").first).to_contain_text("counted")
        expect(wall.locator(WALL)).to_contain_text("1 of 5 have voted")
        assert wall.locator(f"{WALL} .wl-cell div").count() == 0, "a vote of one is shown"
        vote("animal")
        bars = wall.locator(f"{WALL} .wl-cell:has(div) span")
        expect(bars).to_have_text(["87%", "7%", "7%"])  # three taps of one weigh a third each
        letters = wall.locator(f"{WALL} :is(.wl-word, .wl-cell span)")
        sizes = letters.evaluate_all("all => all.map((each) => parseFloat(getComputedStyle(each).fontSize))")
        assert min(sizes) >= 20, "of 720 pixels: read from the last row"
    does(wall, "show")
    expect(wall.locator(f"{WALL} .wl-cell:not(.wl-model) span")).to_have_text(["93%", "7%"])
    expect(wall.locator(f"{WALL} .wl-model span").first).to_have_text("7%")
    shown = wall.locator(WALL)
    expect(shown).to_contain_text("1 tap on “tired”")
    expect(shown).to_contain_text("13.8 (")
    expect(shown).to_contain_text("One sentence is no evidence")
    mine = phone.locator(".rm-mine")
    expect(mine).to_have_text(["animal", "75% your tap", "street", "1% your tap"])
    expect(phone.locator("main")).to_contain_text("had not read “tired”")
    expect(phone.locator("main")).to_contain_text("Your words")
    late = joined(server, new_page, code)
    expect(late.locator("main")).to_contain_text("13.8 of the model")
    expect(late.locator("main")).not_to_contain_text("Your words")  # who came after the vote has none
    late.close()
    wall.keyboard.press("Escape")
    expect(phone.locator(PICTURE).first).to_be_visible()


def test_a_phone_follows_each_step_until_it_is_touched_and_comes_back(server, new_page):
    lesson = open_lesson.LESSONS["masks"]
    wall, code = opened_room(server, new_page, "lessons?lesson=masks&step=1&l_guess=none")
    does(wall, "hide")
    phone = joined(server, new_page, code)
    line, back = phone.locator(".ph-line"), phone.get_by_role("button", name="Back to the lecturer")
    expect(phone.get_by_role("heading", name=lesson.steps[0].title)).to_be_visible()
    link = phone.get_by_role("link", name="Open in attnviz")
    expect(back).to_be_hidden()
    wall.keyboard.press("ArrowRight")
    expect(line).to_contain_text(f"Step 2 of {len(lesson.steps)}")
    expect(link).to_have_attribute("href", re.compile(r"lessons\?(?!.*guess).*step=2"))
    phone.locator(".ph-picture").last.tap()
    expect(back).to_be_visible()
    wall.keyboard.press("ArrowRight")
    expect(wall.locator("h3")).to_have_text(lesson.steps[2].title)
    expect(line).to_contain_text(f"Step 2 of {len(lesson.steps)}")
    student = new_page(**PHONE)
    student.goto(f"{server.url}/{link.get_attribute('href').removeprefix('../')}&l_notes=true")
    at_rest(student)
    expect(student.locator("h3")).to_have_text(lesson.steps[1].title)
    expect(student.get_by_text("Teacher’s notes")).to_have_count(0)
    expect(student.get_by_text("For the teacher")).to_have_count(0)
    back.click()
    expect(line).to_contain_text(f"Step 3 of {len(lesson.steps)}")
    expect(back).to_be_hidden()


def test_a_lessons_question_is_asked_and_its_answer_reaches_no_phone_before_it_is_shown(server, new_page):
    wall, code = opened_room(server, new_page, "lessons?lesson=masks&step=2")
    question = open_lesson.LESSONS["masks"].steps[1].question
    phone = joined(server, new_page, code)
    heard = []
    phone.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
    phone.reload()
    does(wall, "ask")
    does(wall, "page")
    answers = phone.get_by_role("group").get_by_role("button")
    expect(answers).to_have_count(len(question.answers))
    answers.first.click()
    answers.last.click()
    expect(phone.locator("[aria-pressed=true]")).to_have_count(1)
    phone.get_by_role("button", name="Vote").click()
    expect(phone.get_by_role("status").first).to_contain_text("counted")
    asked = [message for message in heard if message.startswith('{"question":{')]
    assert asked, "nothing was heard of the question"
    assert not any('"right"' in message for message in asked)
    does(wall, "show")
    for page in (phone, wall.locator(WALL)):
        expect(page.locator(".rm-rows")).to_contain_text(f"✓ {6 * 7 // 2}")
    expect(phone.locator(".rm-mine").last).to_have_text("your tap")
    expect(phone.locator(PICTURE).first).to_be_visible()
    does(wall, "hide")
    expect(wall.get_by_text("Computed: ")).to_be_visible()
    does(wall, "ask")
    does(wall, "page")
    wall.locator(f"{WALL} [data-does=show]").wait_for()
    does(wall, "hide")
    wall.keyboard.press("ArrowRight")  # before the room has answered: the keyboard is the page's at once
    expect(wall.locator("h3")).to_have_text(open_lesson.LESSONS["masks"].steps[2].title)
    expect(phone.get_by_role("group")).to_have_count(0)


def test_a_room_votes_on_the_wrong_line_of_a_program(server, new_page):
    wall, code = opened_room(server, new_page, "mistakes?mistake=ignored_mask")
    phone = joined(server, new_page, code)
    expect(phone.get_by_role("group", name="Lines of the program")).to_contain_text("masked_fill")
    expect(phone.get_by_role("group").get_by_role("button")).to_have_count(0)
    does(wall, "ask")
    does(wall, "page")
    phone.get_by_role("button", name="6: scores.masked_fill(~mask, -torch.inf)", exact=True).click()
    phone.get_by_role("button", name="Vote").click()
    expect(phone.get_by_role("status").first).to_contain_text("counted")
    assert "A mask accepted" not in phone.locator("main").inner_text()
    does(wall, "show")
    for page in (phone, wall.locator(WALL)):
        expect(page.locator(".rm-rows")).to_contain_text("✓ 6: scores.masked_fill")
    does(wall, "hide")
    expect(wall.get_by_role("status").filter(has_text="A mask accepted and ignored")).to_be_visible()


def opened_window(wall):
    """The presenter's window of a room, at its own address."""
    with wall.context.expect_page() as opened:
        does(wall, "window")
    window = opened.value
    expect(window.get_by_role("button", name="Next")).to_be_visible()
    return window


def test_the_presenters_window_has_the_notes_and_walks_the_wall(server, new_page):
    lesson = open_lesson.LESSONS["masks"]
    wall, code = opened_room(server, new_page, "lessons?lesson=masks&step=1&l_notes=true")
    window = opened_window(wall)
    phone = joined(server, new_page, code)
    heard = []
    phone.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
    phone.reload()
    say = lesson.steps[1].say
    window.get_by_role("button", name="Next").click()
    expect(window.get_by_role("heading", name=lesson.steps[1].title)).to_be_visible()
    expect(wall.locator("h3")).to_have_text(lesson.steps[1].title)
    expect(phone.locator(".ph-line")).to_contain_text("Step 2")
    expect(window.locator(".pw-notes")).to_contain_text(say)
    expect(window.locator("main")).to_contain_text("1 is here")
    for page in (wall, phone):
        expect(page.get_by_text(say)).to_have_count(0)
        expect(page.get_by_text("Teacher’s notes")).to_have_count(0)
    assert heard
    assert not any(say in frame or "notes" in frame for frame in heard)
    assert "secret" not in wall.url
    window.keyboard.press("ArrowRight")
    window.keyboard.press("ArrowRight")
    wall.keyboard.press("ArrowLeft")
    expect(wall.locator("h3")).to_have_text(lesson.steps[2].title)
    assert not [fault for page in (wall, window, phone) for fault in severe(page)]


def test_a_press_reaches_its_button_while_phones_come(server, new_page):
    wall, code = opened_room(server, new_page)
    window = opened_window(wall)
    asks = wall.locator(f"{WALL} [data-does=ask]")
    asked = window.get_by_label("Your own question"), wall.locator(f"{WALL} [data-does=prompt]")
    for page, button, opened, other, here in (
        (window, window.locator("summary"), asked[0], wall.locator(WALL), "1 is here"),
        (wall, asks, asked[1], window.locator("main"), "2 are here"),
    ):
        button.hover()
        page.mouse.down()
        joined(server, new_page, code)
        expect(other).to_contain_text(here)
        page.mouse.up()
        expect(opened).to_be_visible()
    expect(window.locator("main")).to_contain_text("2 are here")


def test_a_question_of_the_lecturers_own_is_asked_from_his_window_and_counted(server, new_page):
    wall, code = opened_room(server, new_page)
    window = opened_window(wall)
    phone = joined(server, new_page, code, width=320, height=568)
    field = phone.locator(".ph-words").get_by_role
    window.locator("summary").click()
    window.get_by_label("Your own question").fill("Which of none?")
    for given in ("nan", "inf", "1e999"):  # which Python takes for numbers, and no browser
        window.locator("[data-does=number]").fill(given)
        window.locator("[data-does='ask number']").click()
        expect(window.locator(".rm-problem")).to_have_text(f"{given} is not a number")
    window.locator("summary").click()
    for does_it, given, guess in (
        ("number", "270", lambda: phone.get_by_label("Your number").fill("200")),
        ("choices", "=2+5\n*<b>no</b>", lambda: field("button", name="<b>no</b>").tap()),
        ("none", "", lambda: field("button", name="cat", exact=True).tap()),
    ):
        window.locator("summary").click()
        window.get_by_label("Your own question").fill(f"Which of {does_it}?")
        if does_it == "none":
            window.get_by_label("Your own sentence").fill("the cat sat")
            window.get_by_role("button", name="Choose its word").click()
            window.get_by_role("button", name="Ask about none of them").click()
        else:
            window.locator(f"[data-does={'answers' if does_it == 'choices' else does_it}]").fill(given)
            window.locator(f"[data-does='ask {does_it}']").click()
        expect(phone.get_by_role("heading", name=f"Which of {does_it}?")).to_be_visible()
        guess()
        phone.get_by_role("button", name="Vote").tap()
        expect(window.locator(".pw-vote")).to_contain_text("1 of 1 have voted")
        expect(window.locator(".pw-vote")).to_contain_text("from five votes on")
        assert window.get_by_role("button", name="Next").is_disabled(), "a vote would be lost by a key"
        assert widest(phone) <= 320
        assert not severe(phone)
        window.get_by_role("button", name="Show the answer").click()
        expect(phone.get_by_role("button", name="Vote")).to_have_count(0)
        window.get_by_role("button", name="Back to the page").click()
    with window.expect_download() as saved:
        window.get_by_role("button", name="Save the counts").click()
    rows = list(csv.reader(saved.value.path().read_text("utf-8").splitlines()))
    assert [(row[0], row[2:]) for row in rows[1:4]] == [
        ("Which of number?", ["", "", "", "1"]),
        ("Which of choices?", ["'=2+5", "", "", "1"]),
        ("Which of choices?", ["<b>no</b>", "", "", "1"]),
    ]


def test_a_phone_whose_network_has_no_web_sockets_and_one_before_a_closed_door_say_so(server, new_page, browser):
    wall, code = opened_room(server, new_page)
    opened_window(wall).get_by_role("button", name="Close the door").click()
    unanswered = """globalThis.WebSocket = class extends WebSocket {
        constructor(url) { super(String(url).replace("/socket", "/nothing")); }
    }"""
    for script, sentence in (("", "has closed the door"), (unanswered, "lets no live line through")):
        phone = browser.new_page(viewport={"width": 320, "height": 568})  # its console says so, too
        phone.add_init_script(script)
        phone.goto(f"{server.url}/r/{code}")
        expect(phone.locator(".ph-line")).to_contain_text(sentence)
        assert widest(phone) <= 320
        phone.close()


def test_two_pages_of_a_room_are_told_apart_and_a_phone_that_slept_shows_the_newest(server, new_page):
    wall, code = opened_room(server, new_page, "lessons?lesson=masks&step=1")
    phone = joined(server, new_page, code)
    expect(phone.locator(".ph-line")).to_contain_text("Step 1")
    kept = wall.evaluate("sessionStorage.getItem('attnviz-room')")
    wire = phone.context.new_cdp_session(phone)
    wire.send("Page.setWebLifecycleState", {"state": "frozen"})
    second = new_page(1280, 720)
    second.goto(server.url)
    second.evaluate("kept => sessionStorage.setItem('attnviz-room', kept)", kept)
    second.goto(f"{server.url}/lessons?lesson=masks&step=3")
    at_rest(second)
    expect(second.locator(WALL)).to_contain_text(code)
    expect(wall.get_by_text("another page shows it now").first).to_be_visible()
    expect(wall.locator(WALL)).to_have_count(0)
    wire.send("Page.setWebLifecycleState", {"state": "active"})
    expect(phone.locator(".ph-line")).to_contain_text("Step 3")


@pytest.mark.parametrize(
    "view, picture, dead",
    [
        ("compare", ".sr-canvas", None),
        ("heads", ".hm-stage canvas", ".hm-open:enabled"),
        ("glossary", ".gw-canvas", ".gw-see:visible"),
        ("scaling", "none", None),
    ],
)
def test_a_phone_has_what_opens_a_page_and_no_button_that_does_nothing_there(server, new_page, view, picture, dead):
    wall, code = opened_room(server, new_page, view)
    phone = joined(server, new_page, code)
    shown = phone.locator(picture).or_(phone.get_by_text("This picture is on the wall.")).first
    expect(shown).to_be_visible()
    if phone.locator(picture).count():
        phone.locator(picture).first.tap()
        if dead is not None:
            expect(phone.locator(dead)).to_have_count(0)
    assert widest(phone) <= 390
    does(wall, "end")
    does(wall, "end")
    expect(phone.locator(".ph-bar").get_by_role("status")).to_contain_text("This class has ended")
    expect(wall.locator(WALL)).to_have_count(0)


def test_a_head_of_a_long_sentence_comes_as_its_row_with_the_strongest_keys(server, new_page):
    sentence = (
        "Anna gave Peter the red book because he loved old stories and she had read it to him when they were young. "
    )
    wall, code = opened_room(server, new_page, f"explore?text={quote(5 * sentence)}&at=13.8")
    phone = joined(server, new_page, code, width=320, height=568)
    row = phone.locator(".ph-wall .rm-rows")
    expect(row).to_be_visible()
    does(wall, "hide")
    told = wall.locator("[data-testid=said]").first.text_content()
    largest = re.findall(r"(\d+%) to “(\w+)", told)
    assert largest
    shown = [line for line in row.inner_text().splitlines() if line]
    assert list(zip(shown[1::2], shown[::2], strict=True))[: len(largest)] == largest
    expect(phone.locator("main")).to_contain_text(told.partition(" ")[0])
    assert widest(phone) <= 320


def test_a_wrong_code_and_an_old_one_get_a_sentence_and_a_field(server, new_page, browser):
    phone = browser.new_page(viewport={"width": 390, "height": 844})  # its console says 404, as it should
    phone.goto(server.url)
    at_rest(phone)
    phone.get_by_label("In a class? Its code:").fill("hello")
    phone.get_by_role("button", name="Join").click()
    field = phone.get_by_label("The code on the wall")
    expect(phone.get_by_role("alert")).to_contain_text("none of them a vowel")
    field.fill("bcdfg")
    phone.get_by_role("button", name="Join").click()
    expect(phone.get_by_role("alert")).to_contain_text("There is no room")
    _wall, code = opened_room(server, new_page)
    field.fill(code.lower())
    field.press("Enter")
    expect(phone.locator(PICTURE).first).to_be_visible()
    phone.close()


def test_a_killed_server_loses_no_vote_and_wall_and_phones_come_back(browser, tmp_path):
    env = os.environ | {"HF_HUB_OFFLINE": "1", "ATTNVIZ_ROOMS": str(tmp_path / "rooms")}
    server = Server(ROOT / "app.py", tmp_path / "log.txt", env=env)

    def new_page(width, height, locale="en-US", **_more):  # its console says that the line was lost, as it should
        return browser.new_page(viewport={"width": width, "height": height}, locale=locale)

    wall, code = opened_room(server, new_page)
    phone = joined(server, new_page, code, locale="zh-CN")
    does(wall, "ask")
    wall.get_by_role("button", name="The trophy").click()
    phone.locator(".ph-words").get_by_text("trophy", exact=True).click()
    phone.locator(".ph-vote").click()
    expect(phone.get_by_role("status").first).to_contain_text("已计入")
    with classmates(server, code, 4) as vote:
        vote("trophy")
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    port = int(server.url.rpartition(":")[2])
    with Server(ROOT / "app.py", tmp_path / "again.txt", env=env, port=port):
        expect(wall.locator(f"{WALL} .wl-cell:has(div) span")).to_have_text(["100%"])
        wall.reload()
        at_rest(wall)
        expect(wall.locator(f"{WALL} .wl-cell:has(div) span")).to_have_text(["100%"])
        does(wall, "show")
        expect(phone.locator(".rm-mine").first).to_have_text("trophy")
    wall.close()
    phone.close()
