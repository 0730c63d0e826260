import base64
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.app.links import link_reading
from attnviz.base.message import Problem

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, max_examples=40)  # a busy machine is no fault of the packing
@given(VALUES)
def test_a_packed_value_unpacks_to_itself(value):
    assert link_reading.unpack(link_reading.pack(value)) == value


def test_a_value_too_large_for_a_link_is_refused_with_its_size():
    noise = random.Random(0).randbytes(8000).hex()
    with pytest.raises(Problem, match=r"characters, and a link holds at most 6144"):
        link_reading.pack(noise)


def test_a_link_that_would_unpack_to_too_many_bytes_is_refused():
    bomb = "1" + base64.urlsafe_b64encode(zlib.compress(b" " * 3_000_000 + b"1", 9)).decode().rstrip("=")
    with pytest.raises(Problem):
        link_reading.unpack(bomb)
