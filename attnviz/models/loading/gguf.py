"""Convert SmolLM2's packaged GGUF file to safetensors, with its tokenizer. Only for models of Llama's shape.

transformers' own GGUF reader is not used because it reads the file three times (15 s instead of 4 s),
reports no progress, and loses the tokenizer's rule that each digit is a token of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Message, Problem
from attnviz.models.file_faults import first_line

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast

#: called with the share that is done, from 0 to 1, and a message about the current step
Progress = Callable[[float, Message], None]


def ignore_progress(share: float, what: Message) -> None:
    """For callers that show no progress."""


_OUTSIDE: Final = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_INSIDE: Final = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_CONTROL: Final = 3  # GGUF's type of control tokens, which no text is tokenized to
_READ, _UNPACKED, _SAVED = 0.35, 0.75, 0.9  # progress after each step, from measured times


def convert(gguf_file: Path, folder: Path, say: Progress = ignore_progress) -> None:
    """Write the config, float32 safetensors weights and tokenizer of a GGUF file of Llama's shape into `folder`."""
    import gguf
    from safetensors.torch import save_file

    say(0.0, Message("Reading the packaged weights"))
    reader = gguf.GGUFReader(gguf_file)
    fields = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
    config = _config(fields)
    state = _weights(reader, config, say)
    say(_UNPACKED, Message("Writing the weights to the cache folder"))
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    config.save_pretrained(folder)
    say(_SAVED, Message("Preparing the tokenizer"))
    tokenizer = _tokenizer(fields)
    try:
        tokenizer.save_pretrained(folder)
    except Exception as error:  # the library of tokenizers has no kind of error of its own
        raise OSError(first_line(error)) from error
    say(1.0, Message("Ready"))


def _config(fields: dict[str, Any]) -> Any:
    from transformers.models.llama.configuration_llama import LlamaConfig

    if fields["general.architecture"] != "llama":
        raise Problem(
            "The packaged file holds a {kind} model; only Llama shapes are converted",
            kind=fields["general.architecture"],
        )
    return LlamaConfig(
        architectures=["LlamaForCausalLM"],
        vocab_size=len(fields["tokenizer.ggml.tokens"]),
        hidden_size=fields["llama.embedding_length"],
        intermediate_size=fields["llama.feed_forward_length"],
        num_hidden_layers=fields["llama.block_count"],
        num_attention_heads=fields["llama.attention.head_count"],
        num_key_value_heads=fields["llama.attention.head_count_kv"],
        max_position_embeddings=fields["llama.context_length"],
        rms_norm_eps=fields["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": fields["llama.rope.freq_base"]},
        bos_token_id=fields["tokenizer.ggml.bos_token_id"],
        eos_token_id=fields["tokenizer.ggml.eos_token_id"],
        pad_token_id=fields["tokenizer.ggml.padding_token_id"],
        tie_word_embeddings=True,
        dtype="float32",
    )


def _weights(reader: Any, config: Any, say: Progress) -> dict[str, torch.Tensor]:
    import gguf
    import torch

    state: dict[str, torch.Tensor] = {}
    for done, tensor in enumerate(reader.tensors):
        say(_READ + (_UNPACKED - _READ) * done / len(reader.tensors), Message("Unpacking the weights"))
        name = _name(tensor.name)
        if name is None:
            continue
        weight = torch.tensor(gguf.dequantize(tensor.data, tensor.tensor_type))
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            weight = _rotary_halves_apart(
                weight, config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            )
        state[name] = weight.contiguous()
    if "lm_head.weight" in state:
        config.tie_word_embeddings = False
    return state


def _name(name: str) -> str | None:
    """The tensor's name in transformers; None for tables that transformers computes itself."""
    stem, _, suffix = name.rpartition(".")
    if stem in _OUTSIDE:
        return f"{_OUTSIDE[stem]}.{suffix}"
    if stem == "rope_freqs":
        return None
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)", stem)
    if block is None or block[2] not in _INSIDE:
        raise Problem("The packaged file has an unexpected tensor {name}", name=name)
    return f"model.layers.{block[1]}.{_INSIDE[block[2]]}.{suffix}"


def _rotary_halves_apart(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Reorder the rows of W_Q or W_K (H*D, M) from GGUF's order to that of transformers.

    GGUF places two numbers that rotate together side by side, transformers half a head apart.
    """
    pairs = weight.reshape(heads, -1, 2, weight.shape[-1])  # (heads, D/2, 2, M)
    return pairs.transpose(1, 2).reshape(weight.shape)


def _tokenizer(fields: dict[str, Any]) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer from the file's tokens and merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers.tokenization_utils_tokenizers import PreTrainedTokenizerFast

    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    core = Tokenizer(
        models.BPE(
            {token: i for i, token in enumerate(tokens)},
            [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]],
        )
    )
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    core.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level])
        if fields.get("tokenizer.ggml.pre") == "smollm"
        else byte_level
    )
    core.decoder = decoders.ByteLevel()
    control = [
        token
        for token, kind in zip(tokens, fields.get("tokenizer.ggml.token_type", []), strict=False)
        if kind == _CONTROL
    ]
    core.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    named = {
        f"{role}_token": tokens[fields[f"tokenizer.ggml.{key}_token_id"]]
        for role, key in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"))
        if f"tokenizer.ggml.{key}_token_id" in fields
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        chat_template=fields.get("tokenizer.chat_template"),
        model_max_length=fields["llama.context_length"],
        clean_up_tokenization_spaces=False,
        **named,
    )
