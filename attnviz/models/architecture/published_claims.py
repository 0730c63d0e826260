"""Numbers published in papers, blogs and logs, each compared with the number computed from the architecture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from attnviz.base.message import Message
from attnviz.core.latent import latent_elements
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.custom_shape import CustomShape, shared_otherwise
from attnviz.models.architecture.layer_spec import Paged

Verdict = Literal["yes", "no", "condition"]
GIB, KIB = 1 << 30, 1 << 10


@dataclass(frozen=True)
class Claim:
    """One published number and the computed number to compare it with."""

    id: str
    said: Message  #: the published statement
    source: str
    printed: float
    unit: str  #: "GiB", "KiB", "kB", "GB", "x", "%", "elements"
    found: float  #: the computed number, in the same unit
    verdict: Verdict
    why: Message

    @property
    def off(self) -> float:
        """Relative difference of the printed number from the computed one; 0 when equal, 1 when twice as large."""
        return self.printed / self.found - 1


def per_token(name: str, unit: int = 1) -> float:
    """Ideal 16-bit cache of one token of a preset, in multiples of `unit` bytes."""
    return Architecture.preset(name).kv_cache_bytes(1) / unit


def claims() -> tuple[Claim, ...]:
    """All published claims, each with its number computed from the architecture."""
    return tuple(make() for make in _CLAIMS)


def _opt() -> Claim:
    return Claim(
        "opt-13b-token", Message("OPT-13B needs 800 KB a token"), "vLLM paper (arXiv 2309.06180), section 3",
        800, "KiB", per_token("opt-13b", KIB), "yes",
        Message("In KiB: 2 x 40 layers x 5,120 numbers x 2 bytes"),
    )  # fmt: skip


def _opt_sequence() -> Claim:
    found = Architecture.preset("opt-13b").kv_cache_bytes(2048) / GIB
    return Claim(
        "opt-13b-2048", Message("OPT-13B needs up to 1.6 GB for one request of 2,048 tokens"),
        "vLLM paper (arXiv 2309.06180), section 3", 1.6, "GiB", found, "yes", Message("In GiB, rounded up"),
    )  # fmt: skip


def _llama_2() -> Claim:
    found = Architecture.preset("llama-2-7b").kv_cache_bytes(4096) / GIB
    return Claim(
        "llama-2-7b-4096", Message("Llama-2-7B needs about 2 GB at 4,096 tokens"),
        "NVIDIA blog on mastering LLM inference", 2, "GiB", found, "yes", Message("In GiB: 512 KiB a token"),
    )  # fmt: skip


def _table_1(name: str, printed: float, title: str) -> Callable[[], Claim]:
    def make() -> Claim:
        return Claim(
            f"{name}-token", Message("{model} needs {printed} KB a token", {"model": title, "printed": printed}),
            "arXiv 2505.09343, table 1", printed, "kB", per_token(name, 1000), "yes",
            Message("In decimal kB; the two claims above are in binary KiB"),
        )  # fmt: skip

    return make


def _ratio() -> Claim:
    found = per_token("llama-3.1-405b") / per_token("deepseek-v3")
    return Claim(
        "405b-over-v3", Message("Llama-3.1-405B needs 7.28 times the cache of DeepSeek-V3"),
        "arXiv 2505.09343, table 1", 7.28, "x", found, "no",
        Message("The table's own two numbers, 516.096 and 70.272, give 7.34"),
    )  # fmt: skip


def _v2_percent() -> Claim:
    mine, dense = per_token("deepseek-v2"), _deepseek_67b().kv_cache_bytes(1)
    at_six = 100 * (1 - float(Fraction(6, 16)) * mine / dense)
    return Claim(
        "v2-smaller", Message("DeepSeek-V2's cache is 93.3% smaller"), "DeepSeek-V2 paper (arXiv 2405.04434)",
        93.3, "%", 100 * (1 - mine / dense), "condition",
        Message(
            "Against DeepSeek-67B (GQA with 8 K/V heads) and at 16 bits on both sides. With V2 at 6 bits against "
            "67B at 16 it is {at_six}%",
            {"at_six": round(at_six, 1)},
        ),
    )  # fmt: skip


def _deepseek_67b() -> Architecture:
    """95 layers with 64 query heads and 8 key/value heads (DeepSeek LLM paper, arXiv 2401.02954, table 2)."""
    return CustomShape(n_layers=95, d_model=8192, n_heads=64, n_kv_heads=8, d_head=128, d_ff=22016).architecture()


def _v2_elements() -> Claim:
    arch = Architecture.preset("deepseek-v2")
    latent = arch.layers[0].latent
    assert latent is not None
    found = len(arch.layers) * latent_elements(latent) / 1000
    return Claim(
        "v2-elements", Message("DeepSeek-V2 keeps 34.6K numbers a token"),
        "DeepSeek-V2 paper (arXiv 2405.04434), table 9", 34.6, "elements", found, "yes",
        Message("60 layers x (512 + 64), in thousands; full attention of the same size keeps 860.2K in that table"),
    )  # fmt: skip


def _mistral() -> Claim:
    arch = Architecture.preset("mistral-7b-v0.1")
    whole = arch.kv_cache_bytes(32768, convention="paged", paged=Paged(hybrid=False))
    return Claim(
        "mistral-window", Message("The window of Mistral 7B makes the cache 8 times smaller at 32k"),
        "Mistral 7B paper (arXiv 2310.06825)", 8, "x", whole / arch.kv_cache_bytes(32768), "yes",
        Message("32,768 / 4,096, where 32k is 32,768"),
    )  # fmt: skip


def _jamba(name: str, printed: float, title: str, window: bool = False) -> Callable[[], Claim]:
    def make() -> Claim:
        arch = Architecture.preset(name)
        found = arch.kv_cache_bytes(262144, convention="paged", paged=Paged(hybrid=window)) / GIB
        return Claim(
            f"jamba-{name}",
            Message("{model} needs {printed} GB at 256K tokens", {"model": title, "printed": printed}),
            "Jamba-1.5 paper (arXiv 2408.12570), table 1", printed, "GiB", found, "yes",
            Message("In GiB at 16 bits; 256K is 262,144; windows not counted"),
        )  # fmt: skip

    return make


def _jamba_405b() -> Claim:
    arch = Architecture.preset("llama-3.1-405b")
    found, twice = arch.kv_cache_bytes(262144) / GIB, shared_otherwise(arch, 16).kv_cache_bytes(262144) / GIB
    return Claim(
        "jamba-405b", Message("Llama-3.1-405B needs 252 GB at 256K tokens"),
        "Jamba-1.5 paper (arXiv 2408.12570), table 1", 252, "GiB", found, "condition",
        Message(
            "Right for the first release, whose files held 16 K/V heads: {twice} GiB. The files of today hold 8",
            {"twice": round(twice)},
        ),
    )  # fmt: skip


def _gpt_oss() -> Claim:
    arch = Architecture.preset("gpt-oss-120b")
    found = arch.kv_cache_bytes(78384, convention="paged", paged=Paged(hybrid=False)) / GIB
    return Claim(
        "gpt-oss-log", Message("A server gives gpt-oss-120b 78,384 tokens in 5.38 GiB"), "a server's start-up log",
        5.38, "GiB", found, "yes", Message("73,728 bytes a token: its windowed layers are charged in full"),
    )  # fmt: skip


def _mib(name: str, printed: float, title: str, arch: Callable[[], Architecture]) -> Callable[[], Claim]:
    def make() -> Claim:
        return Claim(
            f"{name}-2048",
            Message("{model} needs {printed} MiB at 2,048 tokens", {"model": title, "printed": printed}),
            "logs of llama.cpp", printed, "MiB", arch().kv_cache_bytes(2048) / (1 << 20), "yes", Message("As printed"),
        )  # fmt: skip

    return make


def _command_r() -> Architecture:
    """40 layers with 64 heads of width 128, each with its own keys and values."""
    return CustomShape(n_layers=40, d_model=8192, n_heads=64, n_kv_heads=64, d_head=128).architecture()


_CLAIMS: tuple[Callable[[], Claim], ...] = (
    _v2_percent,
    _ratio,
    _jamba_405b,
    _opt,
    _opt_sequence,
    _llama_2,
    _table_1("deepseek-v3", 70.272, "DeepSeek-V3"),
    _table_1("llama-3.1-405b", 516.096, "Llama-3.1-405B"),
    _v2_elements,
    _mistral,
    _jamba("mistral-7b-v0.1", 32, "Mistral-7B"),
    _jamba("mixtral-8x7b", 32, "Mixtral-8x7B"),
    _jamba("llama-3.1-8b", 32, "Llama-3.1-8B"),
    _jamba("llama-3.1-70b", 80, "Llama-3.1-70B"),
    _jamba("jamba-v0.1", 4, "Jamba-v0.1"),
    _gpt_oss,
    _mib("llama-3-8b", 256, "Llama-3-8B", lambda: Architecture.preset("llama-3.1-8b")),
    _mib("llama-3-70b", 640, "Llama-3-70B", lambda: Architecture.preset("llama-3.1-70b")),
    _mib("command-r", 2560, "Command-R", _command_r),
)
