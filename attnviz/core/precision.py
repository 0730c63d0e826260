"""How much memory a number takes, by storage format."""

from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least, require_one_of

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


def bits_per_number(dtype: str, group: int = 64) -> Fraction:
    """Bits per number, scales included: int8, int4 and int2 add a 16-bit scale and a 16-bit zero point per group."""
    if dtype in PLAIN_BITS:
        return PLAIN_BITS[dtype]
    require_one_of("dtype", dtype, DTYPES)
    require_at_least("group", group, 1)
    return GROUPED_BITS[dtype] + Fraction(32, group)


def stored_bytes(elements: int, dtype: str = "bfloat16", group: int = 64) -> int:
    """Bytes that `elements` numbers take, rounded up."""
    return -(-elements * bits_per_number(dtype, group) // 8)


# Numbers stored in few bits: groups that share one scale and one zero point, both kept at 16 bits.
WIDTHS = (8, 4, 2)


@dataclass(frozen=True, eq=False)
class Quantised:
    """What is stored: codes packed into bytes, and a scale and a lowest value for each group of neighbours."""

    codes: Tensor  #: uint8 (..., groups, group * bits / 8)
    scale: Tensor  #: float16 (..., groups, 1)
    lowest: Tensor  #: float16 (..., groups, 1)
    bits: int
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes + self.scale.nbytes + self.lowest.nbytes


def quantise(x: Tensor, bits: int, group: int) -> Quantised:
    """Round each group of `group` neighbours on the last axis to 2^bits evenly spaced values from lowest to highest."""
    require_one_of("bits", bits, WIDTHS)
    if group < 1 or x.shape[-1] % group or group * bits % 8:
        raise Problem(
            "group={group} must divide {width} numbers and fill whole bytes at {bits} bits",
            group=group,
            width=x.shape[-1],
            bits=bits,
        )
    parts = x.float().reshape(*x.shape[:-1], x.shape[-1] // group, group)  # (..., groups, group)
    lowest, highest = parts.amin(-1, keepdim=True), parts.amax(-1, keepdim=True)
    lowest = lowest.half()
    scale = ((highest - lowest.float()) / (2**bits - 1)).half()
    steps = torch.where(scale > 0, (parts - lowest.float()) / scale.float().clamp_min(1e-12), 0.0)
    codes = steps.round().clamp(0, 2**bits - 1).to(torch.uint8)
    shifts = torch.arange(0, 8, bits, device=x.device)  # several codes in a byte, the first in its lowest bits
    byte_codes = codes.reshape(*codes.shape[:-1], codes.shape[-1] // len(shifts), len(shifts))
    return Quantised((byte_codes << shifts).sum(-1).to(torch.uint8), scale, lowest, bits, tuple(x.shape))


def dequantise(stored: Quantised) -> Tensor:
    """The numbers again, float32, as far as the codes tell."""
    shifts = torch.arange(0, 8, stored.bits, device=stored.codes.device)
    codes: Tensor = (stored.codes.unsqueeze(-1) >> shifts & 2**stored.bits - 1).flatten(-2)
    return (codes.float() * stored.scale.float() + stored.lowest.float()).reshape(stored.shape)
