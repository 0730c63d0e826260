from __future__ import annotations

import numpy as np

from attnviz.pages.explore.maths import head_measures


def test_layers_swept_at_the_same_time_come_in_their_order_and_as_they_come_alone(decoded):
    stack = decoded.stacks[0]
    together = list(head_measures.swept(stack, measured=False))
    alone = [head_measures.swept_layer(stack, index, None) for index in range(len(stack.layers))]
    assert len(together) == len(alone) == 30
    assert all(np.array_equal(one.largest, other.largest) for one, other in zip(together, alone, strict=True))
    assert len({one.largest.tobytes() for one in alone}) == 30  # no two layers look alike: an order can be seen
