import html
import re

import pytest

from attnviz.app.share_menu import embed_code

PUBLIC = "https://attention.example/explore"


def frame(code: str) -> dict[str, str]:
    (inside,) = re.fullmatch(r"<iframe ([^<>]*)></iframe>", code).groups()
    return {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', inside)}


@pytest.mark.parametrize(
    "address, source",
    [
        (PUBLIC, f"{PUBLIC}?embed=true"),
        (f"{PUBLIC}?text=a%26b&at=3.1", f"{PUBLIC}?text=a%26b&at=3.1&embed=true"),
        (f'{PUBLIC}?text="><script>', f'{PUBLIC}?text="><script>&embed=true'),
    ],
)
def test_the_code_is_one_frame_with_the_view_and_without_the_bar(address, source):
    made = frame(embed_code(address, 'A "title" <b>'))
    assert made["src"] == source
    assert made["title"] == 'A "title" <b>'
