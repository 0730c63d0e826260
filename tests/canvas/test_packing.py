"""What the browser is sent: packed, unpacked again, and compared with what went in."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attnviz.base.head_edit import HeadEdit
from attnviz.base.head_record import Arrangement, HeadChannel, HeadView, PackedHeads, Pin, Pins, RawSource, RowSentence
from attnviz.base.message import NONSENSE
from attnviz.base.packed import pack_bits
from attnviz.base.record_json import from_json, to_json
from attnviz.canvas.shared import packing
from tests.canvas.browser_codes import decode16

PACKED = PackedHeads(16, False, 2, (3, 4), [0.5, 0.25], 8, True, [None, 30.0], 0, None, False, False)
unit = hnp.arrays(np.float32, (5, 7), elements=st.floats(0, 1, width=32))


def decoded(values: np.ndarray, hidden: np.ndarray | None, top: float, signed: bool) -> np.ndarray:
    """Values packed and unpacked as the browser does it, from byte planes to codes to numbers."""
    raw = np.frombuffer(packing.split_bytes(packing.encode16(values, hidden, top, signed)), np.uint8)
    high, low = raw[: raw.size // 2], raw[raw.size // 2 :]
    return decode16((high.astype(np.uint16) << 8 | low).reshape(values.shape), top, signed)


def test_a_blob_gives_back_its_header_and_payload_and_a_header_that_is_no_json_is_refused() -> None:
    header = {"tokens": ["<b>", "日本", "\n", '"'], "n": 3}
    data = packing.pack_blob(header, b"\x00\xff12")
    assert packing.unpack_blob(data) == (header, b"\x00\xff12")
    assert int.from_bytes(data[:3], "little") % 4 == 0
    with pytest.raises(ValueError, match="JSON"):
        packing.pack_blob({"value": float("nan")})


def test_records_come_back_from_json_and_what_does_not_fit_them_is_refused() -> None:
    view = HeadView(
        "Layer 1, head 2",
        tile=(1, 2),
        titles="Layer {layer}",
        sentence=RowSentence(("1", "2", "3", "4", "5"), None, ((0, 1), (0,))),
        pins=Pins((Pin("q", 1), Pin("k", 0)), (1, 0)),
        over=(4, 2),
        fixed_top=2.5,
    )
    edit = HeadEdit("painted", hidden=(1,), painted=b"\x81", scale="factor", factor=2.0)
    for record in (view, edit, HeadChannel("group", edited_tiles="address"), RawSource(PACKED, Arrangement(((0, 1),)))):
        plain = json.loads(json.dumps(to_json(record)))
        assert from_json(type(record), plain) == record
        for name in plain:
            with pytest.raises(NONSENSE):
                from_json(type(record), plain | {name: object()})


@settings(max_examples=25, deadline=None)
@given(unit)
def test_weights_keep_four_digits_and_differences_sign_and_zero_too(values: np.ndarray) -> None:
    assert np.abs(decoded(values, None, 1.0, False) - values).max() < 2e-5
    signed = values - values[::-1]
    back = decoded(signed, None, 1.0, True)
    assert np.abs(back - signed).max() < 4e-5
    assert (back[signed == 0] == 0).all()


def test_a_thumbnail_never_loses_a_bright_cell_and_a_small_matrix_is_its_own() -> None:
    weights = np.zeros((2, 100, 70))
    weights[0, 57, 33] = 1.0
    tiles = packing.make_thumbnails(weights)
    assert tiles.shape == (2, 32, 32)
    assert tiles[0].max() == 254
    assert tiles[1].max() == 0
    weights = np.random.default_rng(0).random((3, 9, 12))
    tiles = packing.make_thumbnails(weights)
    np.testing.assert_allclose((tiles / 254.0) ** 2, weights, atol=5e-3)


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=2, max_side=11)))
@settings(max_examples=25, deadline=None)
def test_a_painted_grid_comes_back_bit_for_bit_and_what_is_none_is_refused(grid: np.ndarray) -> None:
    sent = base64.b64encode(pack_bits(grid)).decode()
    np.testing.assert_array_equal(packing.parse_bits(sent, grid.shape), grid)
    for wrong in (sent + "AAAA", sent[:-1], "?" + sent[1:], None, 7):
        assert packing.parse_bits(wrong, grid.shape) is None
