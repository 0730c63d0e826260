"""The live file of a canvas: what stands in it, read back without a browser."""

import base64
import json
import zlib

import pytest

from attnviz.base.packed import pack_blob, unpack_blob
from attnviz.canvas.shared.component import NAMES
from attnviz.live import BUNDLE
from attnviz.live.canvas_page import canvas_page
from tests.live.test_page import HOSTILE, Elements


def test_the_file_holds_what_the_canvas_was_sent_but_for_who_it_was_sent_to():
    data = pack_blob({"at": 3, "session": "a visitor's", "ack": 7}, b"numbers")
    text = canvas_page("step_player", data, "A title", "A note.", "https://example.org/decoding?d_at=3")
    header, payload = unpack_blob(zlib.decompress(base64.b64decode(Elements(text).text_of("attnviz-heads"))))
    assert payload == b"numbers"
    assert header == {"at": 3, "session": "live", "ack": 0}
    told = json.loads(Elements(text).text_of("attnviz-view"))
    assert (told["title"], told["note"]) == ("A title", "A note.")
    assert told["link"] == "https://example.org/decoding?d_at=3"


def test_nothing_in_it_asks_a_server_or_runs_what_a_visitor_wrote():
    for hostile in HOSTILE:
        text = canvas_page("patch_view", pack_blob({"special": hostile}), hostile, hostile, "javascript:alert(1)")
        tags = [tag for tag, _attrs, _text in Elements(text).found]
        assert tags.count("script") == 5
        assert "default-src 'none'" in text
        assert json.loads(Elements(text).text_of("attnviz-view"))["link"] is None


@pytest.mark.parametrize("name", NAMES)
def test_no_style_ends_the_element_that_it_stands_in(name):
    assert "</style" not in (BUNDLE.parents[1] / f"canvas/bundles/{name}.css").read_text(encoding="utf-8").lower()
