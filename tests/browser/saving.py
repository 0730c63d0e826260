"""Files saved and texts copied from an open menu, on a page that may still grow and move it out of the window."""

from pathlib import Path
from typing import Any

from playwright.sync_api import TimeoutError as TookTooLong
from playwright.sync_api import expect

from tests.waiting import until

# Brings a button of an open menu into the window as a visitor would, by scrolling the page; whether it is there.
REACH = """(button) => {
    const { top, bottom } = button.getBoundingClientRect();
    const by = bottom > window.innerHeight ? bottom - window.innerHeight + 40 : top < 0 ? top - 40 : 0;
    document.querySelector("[data-testid=stMain]").scrollBy({ top: by, behavior: "instant" });
    return by === 0;
}"""


def open_menu(button: Any) -> None:
    """Press the button of a menu until it is open: where a page still grows, the press may end beside the button."""
    for _ in range(8):
        button.click()
        try:
            expect(button).to_have_attribute("aria-expanded", "true", timeout=5_000)
        except AssertionError:
            continue
        return
    raise AssertionError("the menu does not open")


def press_in_menu(target: Any) -> None:
    """Press a button of an open menu; the menu goes with the page, which may grow above it meanwhile."""
    for _ in range(8):
        until(lambda: target.evaluate(REACH))
        try:
            target.click(timeout=5_000)
        except TookTooLong:
            continue
        return
    target.click()


def saved(page: Any, target: Any) -> Any:
    """Press a button of an open menu, and wait for the file that it saves."""
    with page.expect_download(timeout=60_000) as waiting:
        press_in_menu(target)
    return waiting.value


def saved_in(page: Any, target: Any, folder: Path) -> Path:
    """The same, as a file in a folder, under the name that it has for the visitor."""
    download = saved(page, target)
    file = folder / download.suggested_filename
    download.save_as(file)
    return file


def copied(page: Any, button: str) -> str:
    """Press a button of the open share menu; what the clipboard has then, which the page's context lets it read."""
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_text("Copied.", exact=True).wait_for()
    return str(page.evaluate("navigator.clipboard.readText()"))
