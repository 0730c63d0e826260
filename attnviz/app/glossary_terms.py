"""The words of attention, each in two sentences, with the place in the app where it can be seen; and their menu.

A number in a sentence is a field: `numbers` computes it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import streamlit as st
import torch

from attnviz.app.links import link_state
from attnviz.app.links.link_reading import parse_choices
from attnviz.app.page_entry import page_file
from attnviz.base.words import N_, _
from attnviz.core import masks
from attnviz.core.costs import kv_bytes
from attnviz.core.heads import HeadLayout
from attnviz.core.latent import LatentLayout
from attnviz.core.measures import entropy
from attnviz.models.architecture import Architecture


@dataclass(frozen=True)
class GlossaryTerm:
    """`seen` are the choices that show it on `page`, by their names in a link."""

    id: str
    name: str
    text: str
    page: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def _term(id: str, name: str, page: str, *, text: str, **parameters: str) -> GlossaryTerm:
    return GlossaryTerm(id, name, text, page, parameters)


_ALL = (
    _term("token", N_("token"), "explore", text=N_(
        "A piece of text that the model reads as one: a word, a part of a word, a sign. Everything that follows "
        "has one row for each token.")),
    _term("embedding", N_("embedding"), "build", b_step="embed", text=N_(
        "The vector that a token is turned into before the first layer. Equal tokens get equal vectors, wherever "
        "they stand.")),
    _term("attention", N_("attention"), "home", text=N_(
        "A token’s new vector is a weighted mixture of the vectors of all tokens that it looks at, its own among "
        "them. The weights are computed from the tokens themselves, so every sentence is mixed in its own way.")),
    _term("query", N_("query"), "build", b_step="project", text=N_(
        "The vector with which a token asks: what it is looking for. It is compared with the key of every token "
        "that it may look at.")),
    _term("key", N_("key"), "build", b_step="project", text=N_(
        "The vector with which a token is found: what it has to offer. A key that points the same way as a query "
        "gets a high score.")),
    _term("value", N_("value"), "build", b_step="project", text=N_(
        "The vector that a token hands over where it is looked at. The output of a head is a mixture of values and "
        "of nothing else.")),
    _term("score", N_("score"), "build", b_step="scores", text=N_(
        "The dot product of a query and a key, one number for each pair of tokens. Scores become weights by "
        "softmax.")),
    _term("d_k", N_("d_k"), "scaling", text=N_(
        "The number of components of a query or a key, the width of a head. Dot products grow with it, which is "
        "why they are divided by its square root.")),
    _term("scaling", N_("scaling"), "scaling", text=N_(
        "Scores are multiplied by 1/√d_k before softmax: by {scale:g} at d_k = {width}. Without it, if the components "
        "of queries and keys are independent with mean 0 and variance 1, their variance is d_k, and softmax gives "
        "nearly everything to one key.")),
    _term("softmax", N_("softmax"), "scaling", s_section="softmax", text=N_(
        "Turns scores into weights that are positive and sum to 1: e to each score, divided by the sum. The scores "
        "0, 1 and 2 become {low:.0%}, {middle:.0%} and {high:.0%}.")),
    _term("weight", N_("attention weight"), "explore", show="weights", text=N_(
        "How much of a value a token takes, from 0 to 1. The weights of one query sum to 1, which is why attention "
        "is an average.")),
    _term("saturation", N_("saturation"), "scaling", text=N_(
        "Softmax is saturated when one weight is nearly 1 and the others are nearly 0. Its gradient is then nearly 0 "
        "too, so little is learned there.")),
    _term("temperature", N_("temperature"), "scaling", s_section="alternatives", text=N_(
        "Scores are divided by it before softmax: above 1 the choice is more even, towards 0 the largest takes "
        "all. At temperature 2 the scores 0, 1 and 2 give the last {high_hot:.0%} instead of {high:.0%}.")),
    _term("entropy", N_("entropy"), "scaling", text=N_(
        "How spread out a row of weights is: 0 when one key takes everything, largest when all keys take the same. "
        "{choices} equal weights have {even:.2f} nats.")),
    _term("nat", N_("nat"), "scaling", text=N_(
        "The unit of entropy when logarithms are natural. One nat is {bits:.2f} bits.")),
    _term("effective_keys", N_("effective keys"), "scaling", text=N_(
        "The exponential of the entropy: how many equal weights would be as spread out. {choices} equal weights are "
        "{effective:.0f} effective keys, and one weight of 1 is a single one.")),
    _term("head", N_("head"), "explore", text=N_(
        "A set of queries, the keys they are compared with, and the values they mix. SmolLM2 has {small_heads} heads "
        "in each of {small_layers} layers, {small_all} in all: each has a W_Q of its own, while groups of them share "
        "{small_kv_heads} W_K and {small_kv_heads} W_V in a layer.")),
    _term("multi_head", N_("multi-head attention"), "build", b_ask="heads", text=N_(
        "Several heads side by side, whose outputs are put together and mixed by one matrix. One head must average "
        "what several can keep apart.")),
    _term("layer", N_("layer"), "explore", text=N_(
        "One attention and one feed-forward network, each added to what came in. Llama-3.1-8B stacks "
        "{llama_layers} of them.")),
    _term("w_o", N_("W_O"), "build", b_step="output", text=N_(
        "The matrix that mixes the outputs of all heads back into the model’s width. Without it, each head would "
        "write only into its own components.")),
    _term("logit", N_("logit"), "explore", open_next="true", text=N_(
        "A score before softmax; mostly said of the scores of the next token. Adding the same number to all logits "
        "changes nothing.")),
    _term("residual", N_("residual stream"), "build", b_step="residual", text=N_(
        "The vector of a token from layer to layer. Heads and MLPs read it and add to it; after the last layer the "
        "next token is read off it.")),
    _term("mlp", N_("MLP"), "why", text=N_(
        "The feed-forward network of a layer: each token alone goes through two matrices with a bend between them, or "
        "three where one opens and shuts another (SwiGLU). Heads move what tokens know, MLPs add to it.")),
    _term("attribution", N_("logit attribution"), "why", text=N_(
        "A logit as the sum of what each head, each MLP and the embedding add to it. It is exact once the scale of "
        "the last norm is held at what it was.")),
    _term("lens", N_("logit lens"), "why", text=N_(
        "Reads a next token off the stream of any layer, as if the model ended there. Earlier layers need not speak "
        "its last layer’s language: an answer that it does not show can be there, and one that it shows can be lost.")),
    _term("patching", N_("activation patching"), "why", why_section="patches", text=N_(
        "Puts a vector of one prompt’s run into another’s, and looks how much of the answer comes with it. Unlike "
        "attribution it also counts what later layers make of that vector.")),
    _term("circuit", N_("circuit"), "why", why_section="circuit", text=N_(
        "A few heads and MLPs that keep most of an answer when all others are replaced by what they do for other "
        "prompts. How much they keep is the honest number under its picture.")),
    _term("next_token", N_("predicting the next token"), "decoding", text=N_(
        "A language model turns its last vector into a probability for every token that could follow. One of them "
        "is taken, appended, and the model is asked again.")),
    _term("mask", N_("mask"), "masks", text=N_(
        "Says which pairs of tokens may look at each other. What is masked gets the score −∞ before softmax, so "
        "its weight is exactly 0.")),
    _term("causal_mask", N_("causal mask"), "masks", m_rule1="causal", text=N_(
        "Every token sees itself and those before it, because a model that is still writing has nothing else. Of the "
        "{pairs} pairs of {words} tokens it leaves {causal_pairs}.")),
    _term("padding", N_("padding"), "masks", m_rule1="padding", text=N_(
        "Tokens without meaning that make the sentences of a batch equally long. They must be masked, or real tokens "
        "average them in; under a causal mask this cannot happen to padding on the right, which comes later.")),
    _term("window", N_("sliding window"), "masks", m_rule1="window", text=N_(
        "Every token sees only the last few. A window of {window} leaves {window_pairs} of the {pairs} pairs of "
        "{words} tokens.")),
    _term("sink", N_("attention sink"), "explore", by="first_token", text=N_(
        "A token, usually the first, that takes much of the weight when a head has nothing else to look at. Weights "
        "must sum to 1, so what is not needed has to go somewhere.")),
    _term("induction", N_("induction head"), "explore", by="induction", text=N_(
        "A head that looks at what followed the same token earlier. It lets a model continue a pattern that it has "
        "seen once.")),
    _term("previous_token_head", N_("previous-token head"), "born", text=N_(
        "A head that looks at the token just before. It tells every token what it follows, and that is what an "
        "induction head in a later layer looks for.")),
    _term("knock_out", N_("silencing a head"), "born", born_off="0.0", born_at="1500", text=N_(
        "The head’s output is replaced by nothing, and everything after it is computed anew. What then fails needed "
        "that head.")),
    _term("training_step", N_("training step"), "born", text=N_(
        "The model reads some sequences, and every number in it is moved a little, so that the loss on them falls. "
        "A model is some thousand such steps, or millions.")),
    _term("self_attention", N_("self-attention"), "build", b_kind="self", text=N_(
        "Queries, keys and values all come from the same tokens. An encoder does it with everything that it reads, a "
        "decoder with what has been written so far.")),
    _term("cross_attention", N_("cross-attention"), "build", b_kind="cross", text=N_(
        "Queries come from one sequence, keys and values from another. A translation looks at the sentence that it "
        "translates in this way.")),
    _term("position", N_("position encoding"), "positions", text=N_(
        "Without it, and without a mask, attention does not know the order of words: permute the tokens, and the "
        "outputs permute. Order is added to the vectors, or to queries and keys, or to the scores.")),
    _term("sinusoidal", N_("sinusoidal positions"), "positions", p_encoding="sinusoidal", p_section="scores", text=N_(
        "Sines and cosines of many wavelengths, added to the embeddings. The original Transformer used them.")),
    _term("rope", N_("RoPE"), "positions", p_section="circle", text=N_(
        "Queries and keys are rotated by an angle that grows with their position. A score then depends on what the "
        "two tokens hold and on the offset between them, its sign included, and not on where they stand.")),
    _term("alibi", N_("ALiBi"), "positions", p_encoding="alibi", p_section="scores", text=N_(
        "A penalty on the score that grows with distance, with its own slope for each head. Nothing is added to the "
        "vectors.")),
    _term("kv_cache", N_("KV cache"), "decoding", text=N_(
        "While a model writes, it keeps the keys and values of all earlier tokens instead of computing them again. "
        "Llama-3.1-8B keeps {token_kib} KiB for each token at 16 bits.")),
    _term("prefill", N_("prefill"), "decoding", d_view="bytes", text=N_(
        "The first pass, which reads the whole prompt at once and fills the cache. With a long prompt it is "
        "limited by how fast the machine computes.")),
    _term("decode", N_("decoding step"), "decoding", d_view="bytes", text=N_(
        "One pass for one new token, with the cache. All weights and the whole cache are read for it, so that for "
        "a single text it is limited by memory and not by arithmetic.")),
    _term("mha", N_("MHA"), "sharing", text=N_(
        "Multi-head attention: every query head has keys and values of its own. With it the cache of Llama-3.1-8B "
        "would take {mha_gib:g} GiB at {context:,} tokens.")),
    _term("gqa", N_("GQA"), "sharing", text=N_(
        "Grouped-query attention: several query heads share one head of keys and values. In Llama-3.1-8B "
        "{llama_heads} query heads share {llama_kv_heads}, and its cache at {context:,} tokens takes {gqa_gib:g} "
        "GiB.")),
    _term("mqa", N_("MQA"), "sharing", h_view="count", text=N_(
        "Multi-query attention: all query heads share one head of keys and values. The cache of Llama-3.1-8B would "
        "take {mqa_mib:g} MiB at {context:,} tokens.")),
    _term("mla", N_("MLA"), "sharing", h_view="latent", text=N_(
        "Multi-head latent attention: kept for each token are a short latent, from which keys and values of all heads "
        "are made, and one rotary key that all heads share. DeepSeek-V3 keeps {latent} + {rotary} numbers a token and "
        "layer for its {latent_heads} heads.")),
    _term("flop", N_("FLOP"), "compare", text=N_(
        "One multiplication or one addition of two numbers. A matrix product of n × d by d × m takes 2·n·d·m of "
        "them.")),
    _term("fused", N_("fused attention"), "fast", fast_section="measured", text=N_(
        "The same numbers, computed block by block, so that the weights of all pairs are never held at once. "
        "Memory then grows with the length instead of with its square.")),
    _term("tile", N_("tile"), "fast", text=N_(
        "A block of the matrix of scores, some queries by some keys, small enough for fast memory. Flash attention "
        "holds one at a time, and never the whole matrix.")),
    _term("online_softmax", N_("online softmax"), "fast", fast_section="numerics", text=N_(
        "Softmax over scores that come piece by piece: a row keeps its largest score, its sum and its output so far. "
        "Where a larger score comes, both are multiplied by e^(old largest − new largest), and nothing is lost.")),
    _term("roofline", N_("roofline"), "fast", fast_section="cost", text=N_(
        "The most FLOPs a second that a machine can do for so many FLOPs a byte: bandwidth times them, up to its peak. "
        "Below the bend memory limits, above it arithmetic.")),
    _term("paged_cache", N_("paged cache"), "fast", fast_section="paged", text=N_(
        "A KV cache in blocks of a few tokens, found by a table, like the pages of a computer’s memory. A request "
        "takes a block when it needs one, and shares those of a common beginning.")),
    _term("linear_attention", N_("linear attention"), "compare", text=N_(
        "A product of features in place of softmax, so that keys and values can be summed once for all queries. Cost "
        "is then in proportion to the length, and a query can no longer choose one key as sharply.")),
)  # fmt: skip

TERMS: Mapping[str, GlossaryTerm] = {term.id: term for term in _ALL}


def explain_term(term: GlossaryTerm) -> str:
    """The two sentences in the visitor's language, with their numbers."""
    return _(term.text).format(**numbers())


def terms_menu(*ids: str) -> None:
    """One menu of the words that a page speaks with, and of the letters in shapes, made and sent once it is open."""
    look: dict[str, Any] = {"icon": ":material/help:", "type": "tertiary", "width": "content"}
    box = st.popover(_("Words"), key="words", on_change="rerun", **look)
    if box.open:
        with box:
            for id in ids:
                st.markdown(f"**{_(TERMS[id].name)}**  \n{explain_term(TERMS[id])}")
                if st.button(_("See it"), icon=":material/arrow_forward:", type="tertiary", key=f"see-{id}"):
                    open_example(TERMS[id].page, TERMS[id].parameters)
            st.markdown(letters_legend())


def letters_legend() -> str:
    """The one legend of the letters in shapes, on every page."""
    meanings = {
        "B": _("sentences in a batch"),
        "H": _("query heads"),
        "G": _("key/value heads (as many as query heads in MHA, fewer in GQA, one in MQA)"),
        "Q": _("query positions: tokens that look"),
        "K": _("key positions: tokens that are looked at"),
        "D": _("width of one head’s queries and keys, d_k"),
        "Dv": _("width of one head’s values"),
        "M": _("width of the model’s vectors"),
    }
    upright = _(
        "In a shape such as (B, H, Q, D) the upright letters are lengths. The matrices are slanted: $Q$ holds "
        "the queries, $K$ the keys and $V$ the values, so $Q$ has Q rows and $K$ has K."
    )
    return "\n".join([*(f"- **{letter}** {meaning}" for letter, meaning in meanings.items()), "", upright])


def open_example(page: str, parameters: Mapping[str, str]) -> None:
    """Open the page where something can be seen, set as `parameters` says so that it shows it."""
    for choice, chosen in parse_choices(page, parameters).items():
        link_state.set_value(choice, chosen)
    st.switch_page(page_file(page))


N_TOKENS = 10  #: tokens of the small examples
CHOICES = 8  #: keys that share attention evenly
WIDTH = 64  #: d_k of the example
CONTEXT = 8192


@cache
def numbers() -> dict[str, float | int]:
    """Number by the name that it has in the sentences: of formulas, and of Llama-3.1-8B, its cache if it had other
    numbers of K/V heads, and two other models.
    """
    scores = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    low, middle, high = scores.softmax(-1).tolist()
    even = float(entropy(torch.full((CHOICES,), 1 / CHOICES, dtype=torch.float64)))
    formula_numbers = {
        "low": low,
        "middle": middle,
        "high": high,
        "high_hot": float((scores / 2).softmax(-1)[-1]),
        "choices": CHOICES,
        "even": even,
        "effective": math.exp(even),
        "bits": 1 / math.log(2),
        "width": WIDTH,
        "scale": WIDTH**-0.5,
        "words": N_TOKENS,
        "pairs": N_TOKENS * N_TOKENS,
        "causal_pairs": int(masks.causal(N_TOKENS, N_TOKENS).sum()),
        "window": 4,
        "window_pairs": int(masks.sliding_window(N_TOKENS, N_TOKENS, 4).sum()),
    }
    llama, small = Architecture.preset("llama-3.1-8b"), Architecture.preset("smollm2-135m")
    layer, latent = llama.layers[0], Architecture.preset("deepseek-v3").layers[0].compressed
    assert isinstance(latent, LatentLayout)

    def gib(n_kv_heads: int) -> float:
        heads = (layer.n_heads, n_kv_heads, layer.d_head)
        return kv_bytes(HeadLayout(layer.d_model, *heads), CONTEXT, dtype="bfloat16") * len(llama.layers) / 2**30

    return formula_numbers | {
        "llama_layers": len(llama.layers),
        "llama_heads": layer.n_heads,
        "llama_kv_heads": layer.n_kv_heads,
        "token_kib": llama.kv_cache_bytes(tokens=1, batch=1, dtype="bfloat16") // 1024,
        "context": CONTEXT,
        "mha_gib": gib(layer.n_heads),
        "gqa_gib": gib(layer.n_kv_heads),
        "mqa_mib": gib(1) * 1024,
        "small_layers": len(small.layers),
        "small_heads": small.layers[0].n_heads,
        "small_all": len(small.layers) * small.layers[0].n_heads,
        "small_kv_heads": small.layers[0].n_kv_heads,
        "latent": latent.kv_rank,
        "rotary": latent.d_rope,
        "latent_heads": latent.n_heads,
    }
