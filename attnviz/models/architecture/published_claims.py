"""Numbers published in papers, blogs and logs, each compared with the number computed from the architecture."""

from dataclasses import dataclass
from typing import Literal

from attnviz.base.message import Message
from attnviz.models.architecture.architecture import Architecture, CustomShape
from attnviz.models.architecture.layer_spec import PagedCache
from attnviz.models.architecture.ways import with_kv_heads

Verdict = Literal["yes", "no", "condition"]
GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
#: DeepSeek LLM paper (arXiv 2401.02954), table 2
DEEPSEEK_67B = CustomShape(n_layers=95, d_model=8192, n_heads=64, n_kv_heads=8, d_head=128, d_ff=22016)
COMMAND_R = CustomShape(n_layers=40, d_model=8192, n_heads=64, n_kv_heads=64, d_head=128)


@dataclass(frozen=True)
class Claim:
    """One published number and the computed number to compare it with."""

    id: str
    statement: Message  #: the published statement
    source: str
    published: float
    unit: str  #: "GiB", "KiB", "kB", "GB", "x", "%", "elements"
    computed: float  #: the computed number, in the same unit
    verdict: Verdict
    reason: Message


def published_claims() -> tuple[Claim, ...]:
    """All published claims, each with its number computed from the architecture at 16 bits."""
    preset = Architecture.preset
    v2, v3, llama, mistral = map(preset, ("deepseek-v2", "deepseek-v3", "llama-3.1-405b", "mistral-7b-v0.1"))
    v2_token, dense_token = v2.kv_cache_bytes(1), DEEPSEEK_67B.architecture().kv_cache_bytes(1)
    at_six = round(100 * (1 - 6 / 16 * v2_token / dense_token), 1)
    latent = v2.layers[0].compressed
    assert latent is not None
    return (
        Claim(
            "v2-smaller", Message("DeepSeek-V2's cache is 93.3% smaller"), "DeepSeek-V2 paper (arXiv 2405.04434)",
            93.3, "%", 100 * (1 - v2_token / dense_token), "condition",
            Message(
                "Against DeepSeek-67B (GQA with 8 K/V heads) and at 16 bits on both sides. With V2 at 6 bits against "
                "67B at 16 it is {at_six}%",
                {"at_six": at_six},
            ),
        ),
        Claim(
            "405b-over-v3", Message("Llama-3.1-405B needs 7.28 times the cache of DeepSeek-V3"),
            "arXiv 2505.09343, table 1", 7.28, "x", llama.kv_cache_bytes(1) / v3.kv_cache_bytes(1), "no",
            Message("The table's own two numbers, 516.096 and 70.272, give 7.34"),
        ),
        Claim(
            "jamba-405b", Message("Llama-3.1-405B needs 252 GB at 256K tokens"),
            "Jamba-1.5 paper (arXiv 2408.12570), table 1", 252, "GiB", llama.kv_cache_bytes(262144) / GIB, "condition",
            Message(
                "Right for the first release, whose files held 16 K/V heads: {twice} GiB. The files of today hold 8",
                {"twice": round(with_kv_heads(llama, 16).kv_cache_bytes(262144) / GIB)},
            ),
        ),
        Claim(
            "opt-13b-token", Message("OPT-13B needs 800 KB a token"), "vLLM paper (arXiv 2309.06180), section 3",
            800, "KiB", preset("opt-13b").kv_cache_bytes(1) / KIB, "yes",
            Message("In KiB: 2 × 40 layers × 5,120 numbers × 2 bytes"),
        ),
        Claim(
            "opt-13b-2048", Message("OPT-13B needs up to 1.6 GB for one request of 2,048 tokens"),
            "vLLM paper (arXiv 2309.06180), section 3", 1.6, "GiB", preset("opt-13b").kv_cache_bytes(2048) / GIB,
            "yes", Message("In GiB, rounded up"),
        ),
        Claim(
            "llama-2-7b-4096", Message("Llama-2-7B needs about 2 GB at 4,096 tokens"),
            "NVIDIA blog on mastering LLM inference", 2, "GiB", preset("llama-2-7b").kv_cache_bytes(4096) / GIB,
            "yes", Message("In GiB: 512 KiB a token"),
        ),
        _table_1_claims(v3, 70.272, "DeepSeek-V3"),
        _table_1_claims(llama, 516.096, "Llama-3.1-405B"),
        Claim(
            "v2-elements", Message("DeepSeek-V2 keeps 34.6K numbers a token"),
            "DeepSeek-V2 paper (arXiv 2405.04434), table 9", 34.6, "elements",
            len(v2.layers) * latent.elements() / 1000, "yes",
            Message("60 layers x (512 + 64), in thousands; full attention of the same size keeps 860.2K in that table"),
        ),
        Claim(
            "mistral-window", Message("The window of Mistral 7B makes the cache 8 times smaller at 32k"),
            "Mistral 7B paper (arXiv 2310.06825)", 8, "x",
            _remove_windows(mistral, 32768) / mistral.kv_cache_bytes(32768), "yes",
            Message("32,768 / 4,096, where 32k is 32,768"),
        ),
        _jamba_claims("mistral-7b-v0.1", 32, "Mistral-7B"),
        _jamba_claims("mixtral-8x7b", 32, "Mixtral-8x7B"),
        _jamba_claims("llama-3.1-8b", 32, "Llama-3.1-8B"),
        _jamba_claims("llama-3.1-70b", 80, "Llama-3.1-70B"),
        _jamba_claims("jamba-v0.1", 4, "Jamba-v0.1"),
        Claim(
            "gpt-oss-log", Message("A server gives gpt-oss-120b 78,384 tokens in 5.38 GiB"), "a server's start-up log",
            5.38, "GiB", _remove_windows(preset("gpt-oss-120b"), 78384) / GIB, "yes",
            Message("73,728 bytes a token: its windowed layers are charged in full"),
        ),
        _llama_cpp_claims("llama-3-8b", 256, "Llama-3-8B", preset("llama-3.1-8b")),
        _llama_cpp_claims("llama-3-70b", 640, "Llama-3-70B", preset("llama-3.1-70b")),
        _llama_cpp_claims("command-r", 2560, "Command-R", COMMAND_R.architecture()),
    )  # fmt: skip


def _remove_windows(arch: Architecture, tokens: int) -> int:
    """Cache bytes where a layer with a window gets room for every token."""
    return arch.kv_cache_bytes(tokens, convention="paged", paged=PagedCache(hybrid=False))


def _table_1_claims(arch: Architecture, printed: float, title: str) -> Claim:
    return Claim(
        f"{arch.name}-token", Message("{model} needs {printed} KB a token", {"model": title, "printed": printed}),
        "arXiv 2505.09343, table 1", printed, "kB", arch.kv_cache_bytes(1) / 1000, "yes",
        Message("In decimal kB; the two claims above are in binary KiB"),
    )  # fmt: skip


def _jamba_claims(name: str, printed: float, title: str) -> Claim:
    return Claim(
        f"jamba-{name}", Message("{model} needs {printed} GB at 256K tokens", {"model": title, "printed": printed}),
        "Jamba-1.5 paper (arXiv 2408.12570), table 1", printed, "GiB",
        _remove_windows(Architecture.preset(name), 262144) / GIB, "yes",
        Message("In GiB at 16 bits; 256K is 262,144; windows not counted"),
    )  # fmt: skip


def _llama_cpp_claims(name: str, printed: float, title: str, arch: Architecture) -> Claim:
    return Claim(
        f"{name}-2048", Message("{model} needs {printed} MiB at 2,048 tokens", {"model": title, "printed": printed}),
        "logs of llama.cpp", printed, "MiB", arch.kv_cache_bytes(2048) / MIB, "yes", Message("As printed"),
    )  # fmt: skip
