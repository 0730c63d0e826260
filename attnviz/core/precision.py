"""How much memory a number takes, by storage format."""

from __future__ import annotations

from fractions import Fraction

from attnviz.base.message import Problem, Several

#: Bits per number. GGML's q8_0 and q4_0 put 32 numbers and one 16-bit scale in a block.
PLAIN_BITS = {
    "float32": Fraction(32),
    "float16": Fraction(16),
    "bfloat16": Fraction(16),
    "fp8": Fraction(8),
    "q8_0": Fraction(17, 2),
    "q4_0": Fraction(9, 2),
}
GROUPED_BITS = {"int8": 8, "int4": 4, "int2": 2}
DTYPES = (*PLAIN_BITS, *GROUPED_BITS)


def bits(dtype: str, group: int = 64) -> Fraction:
    """Bits per number, scales included: int8, int4 and int2 add a 16-bit scale and a 16-bit zero point per group."""
    if dtype in PLAIN_BITS:
        return PLAIN_BITS[dtype]
    if dtype not in GROUPED_BITS:
        raise Problem("dtype={dtype} is not one of {known}", dtype=dtype, known=Several(DTYPES))
    if group < 1:
        raise Problem("group={group} must be at least 1 number", group=group)
    return GROUPED_BITS[dtype] + Fraction(32, group)


def stored_bytes(elements: int, dtype: str = "bfloat16", group: int = 64) -> int:
    """Bytes that `elements` numbers take, rounded up."""
    return -(-elements * bits(dtype, group) // 8)
