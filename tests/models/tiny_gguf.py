"""Write a GGUF file of a tiny random Llama in the format of the packaged one."""

import gguf
import numpy as np

WIDTH, HEADS, KV_HEADS, LAYERS, INNER = 64, 4, 2, 2, 96
FLAT = "norm"


def tokens():
    """The vocabulary: control tokens, then one letter per byte, then one merged token."""
    from attnviz.models.tokens.token_spans import _byte_letters

    return ["<|end|>", "<|start|>", *_byte_letters(), "th"]


def write(path, quantised=True):
    """Write the file; matrices as Q4_1 (as SmolLM2's are) or in float32."""
    writer = gguf.GGUFWriter(path, "llama")
    names = tokens()
    writer.add_block_count(LAYERS)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(names))
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(names)
    writer.add_token_types([3, 3, *[1] * (len(names) - 2)])
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(0)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    rng = np.random.default_rng(0)
    for name, shape in _shapes(len(names)).items():
        weight = rng.normal(0, 0.3, shape).astype(np.float32)
        if quantised and FLAT not in name:
            kind = gguf.GGMLQuantizationType.Q4_1
            writer.add_tensor(name, gguf.quantize(weight, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _shapes(vocabulary):
    narrow = WIDTH // HEADS * KV_HEADS
    shapes = {"token_embd.weight": (vocabulary, WIDTH), "output_norm.weight": (WIDTH,)}
    for n in range(LAYERS):
        block = {
            "attn_norm": (WIDTH,),
            "ffn_norm": (WIDTH,),
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (narrow, WIDTH),
            "attn_v": (narrow, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }
        shapes |= {f"blk.{n}.{name}.weight": shape for name, shape in block.items()}
    return shapes
