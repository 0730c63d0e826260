"""The live file of a picture: what stands in it, read back without a browser."""

import base64
import json

import numpy as np

from attnviz.base.packed import unblob
from attnviz.base.raw_scores import RawHead, pack
from attnviz.canvas.patch_view import PatchChoices, PatchScene, live_scene
from attnviz.live import patch_page
from tests.live.test_page import HOSTILE, Elements


def scene(special: str = "class token") -> PatchScene:
    rng = np.random.default_rng(0)
    raw = [RawHead(rng.normal(0, 4, (5, 5)).astype(np.float32), np.ones((5, 5), bool), 0.5, 4) for _ in range(2)]
    maps = np.full((2, 2, 5), 0.2)
    return PatchScene(b"\x89PNG", "image/png", (8, 8), (2, 2, 1), (special,), None, (2,), maps, pack(raw), every=True)


def test_the_file_holds_the_scene_that_the_canvas_is_sent_and_what_was_chosen() -> None:
    sent = live_scene(scene(), PatchChoices(head=1, pins=(3,), hidden=(2, 9)))
    text = patch_page(sent, "A title", "A note.", "https://example.org/pictures?pic_head=1")
    found = base64.b64decode(Elements(text).text_of("attnviz-heads"))
    assert found == sent
    header, _payload = unblob(found)
    assert (header["state"]["head"], header["state"]["pins"], header["state"]["hidden"]) == (1, [3], [2])
    assert header["raw"]["all"]
    said = json.loads(Elements(text).text_of("attnviz-view"))
    assert (said["title"], said["note"]) == ("A title", "A note.")
    assert said["link"] == "https://example.org/pictures?pic_head=1"


def test_nothing_in_it_asks_a_server_or_runs_what_a_visitor_wrote() -> None:
    for hostile in HOSTILE:
        text = patch_page(live_scene(scene(hostile), PatchChoices()), hostile, hostile, "javascript:alert(1)")
        tags = [tag for tag, _attrs, _text in Elements(text).found]
        assert tags.count("script") == 3
        assert "default-src 'none'" in text
        assert json.loads(Elements(text).text_of("attnviz-view"))["link"] is None
