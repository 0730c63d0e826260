"""Lines of a program of which one is pointed at; then wrong ones are struck, and right ones stand below them."""

from collections.abc import Callable, Sequence

from attnviz.canvas.shared.component import count, mount_component


def code_lines(
    key: str,
    lines: Sequence[tuple[str, str]],
    *,
    about: str,
    chosen: int | None,
    verdict: tuple[bool, str] | None,
    name: str,
    hint: str,
    on_line: Callable[[int], None],
) -> None:
    """Draw the lines, each with its sign in a diff: " ", "-" or "+"; `on_line` receives a number, counted from 1.

    `about` is the program: a late gesture about another is dropped. With a `verdict`, whether what was `chosen` is
    right and how that is said, no line can be pointed at. `name` is what the lines are called for those who hear them.
    """
    header = {
        "about": about,
        "lines": [{"sign": sign, "text": text} for sign, text in lines],
        "chosen": chosen,
        "right": None if verdict is None else verdict[0],
        "words": {"name": name, "said": hint if verdict is None else verdict[1]},
    }
    numbers = sum(sign != "+" for sign, _text in lines)

    def read_line(report: dict[str, object]) -> int | None:
        number = count(report.get("line"), numbers + 1)
        return number if number and verdict is None and report.get("about") == about else None

    mount_component("code_lines", key, "pointed", header, read_line, on_line)
