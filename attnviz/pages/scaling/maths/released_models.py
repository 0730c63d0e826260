"""What released models do to their scores before softmax, and where this is documented."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.base.words import N_

PAPER = "https://arxiv.org/abs/"
CODE = "https://github.com/huggingface/transformers/blob/main/src/transformers/models/"


@dataclass(frozen=True)
class ReleasedFamily:
    """One way to treat scores, and the models that use it. `models` and `how` are looked up."""

    models: str
    alternative: str  #: an id of attnviz.pages.scaling.maths.alternatives.ALTERNATIVES
    how: str  #: the formula with the setting of the model
    paper: str  #: title, year; empty where no paper says so, only the code
    paper_link: str
    code: str  #: file in transformers
    code_link: str
    setting: str  #: the name to search for in that file


def _family(models: str, alternative: str, how: str, paper: str, number: str, code: str, name: str) -> ReleasedFamily:
    return ReleasedFamily(
        models, alternative, how, paper, PAPER + number if number else "", code.split("/")[-1], CODE + code, name
    )


FAMILIES = (
    _family(
        N_("GPT-2, BERT, Llama, Mistral, Qwen2.5"),
        "sqrt",
        N_("q·k / √d_k"),
        "Attention Is All You Need, 2017",
        "1706.03762",
        "llama/modeling_llama.py",
        "self.scaling = head_dim**-0.5",
    ),
    _family(
        N_("T5"),
        "raw",
        N_("q·k, with W_Q started smaller by √d_k"),
        "Exploring the Limits of Transfer Learning, 2019",
        "1910.10683",
        "t5/modeling_t5.py",
        "self.scaling = 1.0; q: std (d_model·d_kv)^-0.5",
    ),
    _family(
        N_("GPT-Neo"),
        "raw",
        N_("q·k"),
        "",
        "",
        "gpt_neo/modeling_gpt_neo.py",
        "softmax_scale=1.0",
    ),
    _family(
        N_("µP; Granite 3 (a number in the config)"),
        "inverse",
        N_("a q·k / d_k"),
        "Tensor Programs V, 2022",
        "2203.03466",
        "granite/modeling_granite.py",
        "self.scaling = config.attention_multiplier",
    ),
    _family(
        N_("Gemma 2"),
        "softcap",
        N_("50 tanh(q·k / (50 √s)), s = d_k = 256; at 27B s = 144 = d_model / heads, d_k = 128"),
        "Gemma 2, 2024",
        "2408.00118",
        "gemma2/configuration_gemma2.py",
        "attn_logit_softcapping=50.0, query_pre_attn_scalar=256",
    ),
    _family(
        N_("Qwen3 (each head), OLMo 2 (full width)"),
        "qk-norm",
        N_("RMSNorm(q)·RMSNorm(k) / √d_k, gains learned"),
        "Query-Key Normalization, 2020",
        "2010.04245",
        "qwen3/modeling_qwen3.py",
        "self.q_norm, self.k_norm",
    ),
    _family(
        N_("Gemma 3"),
        "qk-norm",
        N_("RMSNorm(q)·RMSNorm(k) / √s, gains learned; s = d_k = 256; at 27B s = 168 = d_model / heads, d_k = 128"),
        "Gemma 3, 2025",
        "2503.19786",
        "gemma3/modeling_gemma3.py",
        "self.q_norm, self.k_norm, query_pre_attn_scalar",
    ),
    _family(
        N_("Swin Transformer V2"),
        "qk-norm",
        N_("g cos(q, k), g learned per head from 10, at most 100"),
        "Swin Transformer V2, 2021",
        "2111.09883",
        "swinv2/modeling_swinv2.py",
        "logit_scale",
    ),
    _family(
        N_("Llama 4 (layers without RoPE)"),
        "log-n",
        N_("(1 + 0.1 ln(1 + ⌊(i+1)/8192⌋)) q·k / √d_k"),
        "Scalable-Softmax, 2025",
        "2501.19399",
        "llama4/modeling_llama4.py",
        "attn_temperature_tuning",
    ),
    _family(
        N_("DeepSeek-V3 (long context)"),
        "temperature",
        N_("(0.1 m ln s + 1)² q·k / √d_k, s the context's stretch"),
        "YaRN, 2023",
        "2309.00071",
        "deepseek_v3/modeling_deepseek_v3.py",
        "yarn_apply_mscale",
    ),
    _family(
        N_("gpt-oss"),
        "sink",
        N_("softmax([q·k / √d_k, b]), b learned per head"),
        "Efficient Streaming Language Models with Attention Sinks, 2023",
        "2309.17453",
        "gpt_oss/modeling_gpt_oss.py",
        "self.sinks",
    ),
)
