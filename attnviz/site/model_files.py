"""A model's files as a browser reads them: the packaged ones, unchanged, and a table of where each weight lies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from attnviz.base.message import Problem

#: what the browser's passes call a weight, by its name in a GGUF file of Llama's shape, and in transformers' BERT
LLAMA = {"token_embd": "tokens", "output_norm": "norm"}
LLAMA_BLOCK = {"attn_norm": "norm", "ffn_norm": "norm2", "attn_q": "q", "attn_k": "k", "attn_v": "v"}
LLAMA_BLOCK |= {"attn_output": "o", "ffn_gate": "gate", "ffn_up": "up", "ffn_down": "down"}
BERT = {"word_embeddings": "tokens", "position_embeddings": "positions", "token_type_embeddings": "types"}
BERT |= {"LayerNorm": "start"}
BERT_BLOCK = {f"attention.self.{name}": name[0] for name in ("query", "key", "value")}
BERT_BLOCK |= {"attention.output.dense": "o", "attention.output.LayerNorm": "norm", "intermediate.dense": "up"}
BERT_BLOCK |= {"output.dense": "down", "output.LayerNorm": "norm2"}


MODELS = ("smollm2-135m", "minilm-l6")  #: those whose packaged files a browser can read
LONGEST = 200  #: tokens that a site reads


class Weight(TypedDict):
    """Where a weight lies in the files, from the beginning of the first, and how its numbers are stored."""

    at: int
    kind: str
    shape: list[int]


def of_llama(file: Path) -> dict[str, Any]:
    """The manifest of a GGUF file of Llama's shape."""
    import gguf

    reader = gguf.GGUFReader(file)
    fields = {name.removeprefix("llama."): field.contents() for name, field in reader.fields.items()}
    weights: dict[str, Weight] = {}
    for tensor in reader.tensors:
        kind = tensor.tensor_type.name
        if kind not in ("F32", "Q8_0", "Q4_1"):
            raise Problem("{tensor} is stored as {kind}; F32, Q8_0 and Q4_1 are read", tensor=tensor.name, kind=kind)
        shape = [int(size) for size in tensor.shape[::-1]]
        weights[_llama_name(tensor.name)] = Weight(at=int(tensor.data_offset), kind=kind, shape=shape)
    return {
        "family": "llama",
        "bytes": file.stat().st_size,
        "layers": fields["block_count"],
        "heads": fields["attention.head_count"],
        "groups": fields["attention.head_count_kv"],
        "width": fields["embedding_length"] // fields["attention.head_count"],
        "eps": fields["attention.layer_norm_rms_epsilon"],
        "base": fields["rope.freq_base"],
        "weights": weights,
    }


def of_bert(file: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a safetensors file of BERT's shape, with its config.json."""
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header: dict[str, Any] = json.loads(opened.read(size))
    weights: dict[str, Weight] = {}
    for name, tensor in header.items():
        known = _bert_name(name)
        if known and tensor["dtype"] != "F32":
            raise Problem("{tensor} is stored as {kind}; F32 is read", tensor=name, kind=tensor["dtype"])
        if known:
            at = 8 + size + int(tensor["data_offsets"][0])
            weights[known] = Weight(at=at, kind="F32", shape=tensor["shape"])
    heads = config["num_attention_heads"]
    return {
        "family": "bert",
        "bytes": file.stat().st_size,
        "layers": config["num_hidden_layers"],
        "heads": heads,
        "groups": heads,
        "width": config["hidden_size"] // heads,
        "eps": config["layer_norm_eps"],
        "weights": weights,
    }


def _llama_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)", stem)
    known = LLAMA.get(stem) if block is None else LLAMA_BLOCK.get(block[2])
    if known is None:
        raise Problem("The packaged file has an unexpected tensor {name}", name=name)
    return known if block is None else f"{block[1]}.{known}"


def _bert_name(name: str) -> str | None:
    """None for what the passes do not need, such as the pooler."""
    found = re.fullmatch(r"(?:bert\.)?(?:embeddings|encoder\.layer\.(\d+))\.([\w.]+)\.(weight|bias)", name)
    if found is None:
        return None
    layer, stem, part = found.groups()
    known = BERT.get(stem) if layer is None else BERT_BLOCK.get(stem)
    if known is None:
        return None
    return (known if layer is None else f"{layer}.{known}") + (".bias" if part == "bias" else "")
