"""A model's files as a browser reads them: the packaged ones, unchanged, and a table of where each weight lies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnviz.base.message import MessageList, Problem

MODELS = ("smollm2-135m", "minilm-l6")  #: those whose packaged files a browser can read
LONGEST = 200  #: tokens that a site reads
KINDS = ("F32", "Q8_0", "Q4_1")  #: how the browser's passes know numbers to be stored


def llama_manifest(file: Path) -> dict[str, Any]:
    """The manifest of a GGUF file of Llama's shape."""
    import gguf

    reader = gguf.GGUFReader(file)
    fields = {name.removeprefix("llama."): field.contents() for name, field in reader.fields.items()}
    return {
        "family": "llama",
        "bytes": file.stat().st_size,
        "layers": fields["block_count"],
        "heads": fields["attention.head_count"],
        "groups": fields["attention.head_count_kv"],
        "width": fields["embedding_length"] // fields["attention.head_count"],
        "eps": fields["attention.layer_norm_rms_epsilon"],
        "base": fields["rope.freq_base"],
        "weights": {
            tensor.name: _weight_record(tensor.name, tensor.data_offset, tensor.tensor_type.name, tensor.shape[::-1])
            for tensor in reader.tensors
        },
    }


def bert_manifest(file: Path) -> dict[str, Any]:
    """The manifest of a safetensors file of BERT's shape, with the config.json beside it."""
    config = json.loads((file.parent / "config.json").read_text("utf-8"))
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header: dict[str, Any] = json.loads(opened.read(size))
    heads = config["num_attention_heads"]
    return {
        "family": "bert",
        "bytes": file.stat().st_size,
        "layers": config["num_hidden_layers"],
        "heads": heads,
        "groups": heads,
        "width": config["hidden_size"] // heads,
        "eps": config["layer_norm_eps"],
        "weights": {
            name: _weight_record(name, 8 + size + tensor["data_offsets"][0], tensor["dtype"], tensor["shape"])
            for name, tensor in header.items()
            if name.endswith((".weight", ".bias"))
        },
    }


def _weight_record(name: str, at: int, kind: str, shape: Sequence[int]) -> dict[str, Any]:
    """Where a weight lies in the files, from the beginning of the first, and how its numbers are stored."""
    if kind not in KINDS:
        raise Problem(
            "{tensor} is stored as {kind}; these are read: {known}", tensor=name, kind=kind, known=MessageList(KINDS)
        )
    return {"at": int(at), "kind": kind, "shape": [int(size) for size in shape]}
