"""Other ways than 1/sqrt(d_k) to keep softmax from saturating, each a call of `attend`; and which models use which."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from attnviz.base.message import Problem, require_one_of
from attnviz.base.words import N_
from attnviz.core.attention import Stages, attend, attend_at
from attnviz.core.measures import effective_keys


@dataclass(frozen=True)
class Alternative:
    """One way to compute weights from q and k, with at most one parameter. `name` is translated when drawn."""

    id: str
    name: str
    formula: str  #: the input of softmax, as one line of text
    parameter: str = ""  #: its letter, as in the formula
    default: float = 1.0
    low: float = 1.0
    high: float = 1.0


_ALTERNATIVES = (
    Alternative("raw", N_("raw"), "q·k"),
    Alternative("sqrt", N_("scaled"), "q·k / √d_k"),
    Alternative("temperature", N_("temperature"), "q·k / (√d_k T)", "T", default=2.0, low=0.0, high=100.0),
    Alternative("inverse", N_("1/d_k"), "a q·k / d_k", "a", default=1.0, low=0.1, high=64.0),
    Alternative("qk-norm", N_("QK-norm, learned scale"), "g cos(q, k)", "g", default=10.0, low=0.1, high=100.0),
    Alternative("softcap", N_("soft-cap"), "c tanh(q·k / (√d_k c))", "c", default=5.0, low=0.1, high=100.0),
    Alternative(
        "log-n", N_("log n, length-aware"), "ln n / ln N × q·k / √d_k", "N", default=512.0, low=2.0, high=4096.0
    ),
    Alternative("sink", N_("sink"), "q·k / √d_k, b", "b", default=0.0, low=-20.0, high=20.0),
)
ALTERNATIVES: dict[str, Alternative] = {alternative.id: alternative for alternative in _ALTERNATIVES}
#: Ids that a visitor chooses from; raw and scaled are always shown.
CHOICES = tuple(ALTERNATIVES)[2:]


def check(alternative: str, parameter: float) -> None:
    """Raise a Problem when the alternative is unknown or its parameter is out of range."""
    require_one_of("alternative", alternative, ALTERNATIVES)
    definition = ALTERNATIVES[alternative]
    if definition.parameter and not definition.low <= parameter <= definition.high:
        raise Problem(
            "{alternative}: {name}={value} must lie between {low} and {high}",
            alternative=alternative,
            name=definition.parameter,
            value=parameter,
            low=definition.low,
            high=definition.high,
        )


def stages(
    q: Tensor, k: Tensor, v: Tensor, alternative: str, parameter: float | Tensor = 1.0, mask: Tensor | None = None
) -> Stages:
    """Attention of q (..., H, Q, D) on k (..., H, K, D) under `alternative`.

    temperature T: softmax(q.k / (sqrt(D) T)), and T = 0 is its limit, all weight on the largest.
    inverse a: softmax(a q.k / D).   qk-norm g: softmax(g cos(q, k)).
    softcap c: softmax(c tanh(q.k / sqrt(D) / c)).   log-n N: softmax(ln K / ln N * q.k / sqrt(D)).
    sink b: softmax over the keys and one more logit b, which takes weight and gives nothing.
    When `parameter` is a tensor, gradients flow to it (qk-norm's learned scale).
    `mask` is True where a query may attend.
    """
    d_k, n_keys = q.shape[-1], k.shape[-2]
    computations: dict[str, Callable[[], Stages]] = {
        "raw": lambda: attend(q, k, v, mask, scale=None),
        "sqrt": lambda: attend(q, k, v, mask),
        "temperature": lambda: attend_at(q, k, v, float(parameter), divisor=math.sqrt(d_k), mask=mask),
        "inverse": lambda: attend(q, k, v, mask, scale=float(parameter) / d_k),
        "qk-norm": lambda: attend(normalize(q, dim=-1) * parameter, normalize(k, dim=-1), v, mask, scale=None),
        "softcap": lambda: attend(q, k, v, mask, softcap=float(parameter)),
        "log-n": lambda: attend(
            q, k, v, mask, scale=1 / math.sqrt(d_k) * math.log(n_keys) / math.log(float(parameter))
        ),
        "sink": lambda: attend(q, k, v, mask, sinks=torch.full((q.shape[-3],), float(parameter), dtype=q.dtype)),
    }
    return computations[alternative]()


# What happens to attention as the number of keys grows: scaled scores dilute, length-aware ones do not.
LENGTHS = tuple(2**i for i in range(13))  #: numbers of keys: 1, 2, 4, ... 4,096
QUERIES = 16
WIDEST = 256  #: d_k beyond which scaled scores look the same, and 4,096 keys would take long to draw


def spread_over_lengths(d_k: int, seed: int, alternative: str, parameter: float) -> np.ndarray:
    """Effective keys, exp(entropy), of the first of the same keys, LENGTHS of them: medians over QUERIES queries."""
    check(alternative, parameter)
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(1, QUERIES, d_k, generator=generator)
    k = torch.randn(1, LENGTHS[-1], d_k, generator=generator)
    attention_by_length = (stages(q, k[:, :n], torch.zeros(1, n, 1), alternative, parameter) for n in LENGTHS)
    return np.array([float(effective_keys(attention.weights).median()) for attention in attention_by_length])


# What released models do to their scores before softmax, and where this is documented.
PAPER = "https://arxiv.org/abs/"
CODE = "https://github.com/huggingface/transformers/blob/main/src/transformers/models/"


@dataclass(frozen=True)
class ReleasedFamily:
    """One way to treat scores, and the models that use it. `models` and `how` are looked up."""

    models: str
    alternative: str  #: an id of ALTERNATIVES
    how: str  #: the formula with the setting of the model
    paper: str  #: title, year; empty where no paper says so, only the code
    number: str  #: of the paper, after PAPER
    file: str  #: in transformers, after CODE
    setting: str  #: the name to search for in that file


FAMILIES = (
    ReleasedFamily(
        N_("GPT-2, BERT, Llama, Mistral, Qwen2.5"),
        "sqrt",
        N_("q·k / √d_k"),
        "Attention Is All You Need, 2017",
        "1706.03762",
        "llama/modeling_llama.py",
        "self.scaling = head_dim**-0.5",
    ),
    ReleasedFamily(
        N_("T5"),
        "raw",
        N_("q·k, with W_Q started smaller by √d_k"),
        "Exploring the Limits of Transfer Learning, 2019",
        "1910.10683",
        "t5/modeling_t5.py",
        "self.scaling = 1.0; q: std (d_model·d_kv)^-0.5",
    ),
    ReleasedFamily(
        N_("GPT-Neo"),
        "raw",
        N_("q·k"),
        "",
        "",
        "gpt_neo/modeling_gpt_neo.py",
        "softmax_scale=1.0",
    ),
    ReleasedFamily(
        N_("µP; Granite 3 (a number in the config)"),
        "inverse",
        N_("a q·k / d_k"),
        "Tensor Programs V, 2022",
        "2203.03466",
        "granite/modeling_granite.py",
        "self.scaling = config.attention_multiplier",
    ),
    ReleasedFamily(
        N_("Gemma 2"),
        "softcap",
        N_("50 tanh(q·k / (50 √s)), s = d_k = 256; at 27B s = 144 = d_model / heads, d_k = 128"),
        "Gemma 2, 2024",
        "2408.00118",
        "gemma2/configuration_gemma2.py",
        "attn_logit_softcapping=50.0, query_pre_attn_scalar=256",
    ),
    ReleasedFamily(
        N_("Qwen3 (each head), OLMo 2 (full width)"),
        "qk-norm",
        N_("RMSNorm(q)·RMSNorm(k) / √d_k, gains learned"),
        "Query-Key Normalization, 2020",
        "2010.04245",
        "qwen3/modeling_qwen3.py",
        "self.q_norm, self.k_norm",
    ),
    ReleasedFamily(
        N_("Gemma 3"),
        "qk-norm",
        N_("RMSNorm(q)·RMSNorm(k) / √s, gains learned; s = d_k = 256; at 27B s = 168 = d_model / heads, d_k = 128"),
        "Gemma 3, 2025",
        "2503.19786",
        "gemma3/modeling_gemma3.py",
        "self.q_norm, self.k_norm, query_pre_attn_scalar",
    ),
    ReleasedFamily(
        N_("Swin Transformer V2"),
        "qk-norm",
        N_("g cos(q, k), g learned per head from 10, at most 100"),
        "Swin Transformer V2, 2021",
        "2111.09883",
        "swinv2/modeling_swinv2.py",
        "logit_scale",
    ),
    ReleasedFamily(
        N_("Llama 4 (layers without RoPE)"),
        "log-n",
        N_("(1 + 0.1 ln(1 + ⌊(i+1)/8192⌋)) q·k / √d_k"),
        "Scalable-Softmax, 2025",
        "2501.19399",
        "llama4/modeling_llama4.py",
        "attn_temperature_tuning",
    ),
    ReleasedFamily(
        N_("DeepSeek-V3 (long context)"),
        "temperature",
        N_("(0.1 m ln s + 1)² q·k / √d_k, s the context's stretch"),
        "YaRN, 2023",
        "2309.00071",
        "deepseek_v3/modeling_deepseek_v3.py",
        "yarn_apply_mscale",
    ),
    ReleasedFamily(
        N_("gpt-oss"),
        "sink",
        N_("softmax([q·k / √d_k, b]), b learned per head"),
        "Efficient Streaming Language Models with Attention Sinks, 2023",
        "2309.17453",
        "gpt_oss/modeling_gpt_oss.py",
        "self.sinks",
    ),
)
