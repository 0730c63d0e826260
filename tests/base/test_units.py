"""Bytes in words: the largest unit that is filled, decimal and binary apart."""

import pytest

from attnviz.base.units import binary, decimal


@pytest.mark.parametrize(
    "nbytes, in_decimal, in_binary",
    [
        (0, "0 B", "0 B"), (999, "999 B", "999 B"), (1000, "1 kB", "1,000 B"), (1024, "1.024 kB", "1 KiB"),
        (2**30, "1.074 GB", "1 GiB"), (-(2**20), "-1.049 MB", "-1 MiB"), (10**21, "1,000 EB", "867.4 EiB"),
    ],
)  # fmt: skip
def test_a_number_of_bytes_is_said_in_the_largest_unit_that_it_fills(nbytes, in_decimal, in_binary):
    assert (decimal(nbytes), binary(nbytes)) == (in_decimal, in_binary)
