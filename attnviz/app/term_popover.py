"""Terms that explain themselves: a menu of their sentences, each with the way to where it can be seen."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st
import torch

from attnviz.app.glossary_terms import TERMS, GlossaryTerm
from attnviz.app.links import link_state
from attnviz.app.links.link_reading import chosen_by
from attnviz.app.page_entry import file_of
from attnviz.base.words import _
from attnviz.core import masks
from attnviz.core.costs import kv_bytes
from attnviz.core.heads import HeadLayout
from attnviz.core.latent import LatentLayout
from attnviz.core.measures import entropy
from attnviz.models.architecture import Architecture


def explanation(term: GlossaryTerm) -> str:
    """The two sentences in the visitor's language, with their numbers."""
    return _(term.text).format(**numbers())


def words_menu(*ids: str) -> None:
    """One menu of the words that a page speaks with, and of the letters in shapes, made and sent once it is open."""
    look: dict[str, Any] = {"icon": ":material/help:", "type": "tertiary", "width": "content"}
    box = st.popover(_("Words"), key="words", on_change="rerun", **look)
    if box.open:
        with box:
            for id in ids:
                st.markdown(f"**{_(TERMS[id].name)}**  \n{explanation(TERMS[id])}")
                if st.button(_("See it"), icon=":material/arrow_forward:", type="tertiary", key=f"see-{id}"):
                    see(TERMS[id].page, TERMS[id].seen)
            st.markdown(letters())


def letters() -> str:
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


def see(page: str, seen: Mapping[str, str]) -> None:
    """Open the page where something can be seen, set as `seen` says so that it shows it."""
    for choice, chosen in chosen_by(page, seen).items():
        link_state.keep(choice, chosen)
    st.switch_page(file_of(page))


WORDS = 10  #: tokens of the small examples
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
    of_formulas = {
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
        "words": WORDS,
        "pairs": WORDS * WORDS,
        "causal_pairs": int(masks.causal(WORDS, WORDS).sum()),
        "window": 4,
        "window_pairs": int(masks.sliding_window(WORDS, WORDS, 4).sum()),
    }
    llama, small = Architecture.preset("llama-3.1-8b"), Architecture.preset("smollm2-135m")
    layer, latent = llama.layers[0], Architecture.preset("deepseek-v3").layers[0].compressed
    assert isinstance(latent, LatentLayout)

    def gib(n_kv_heads: int) -> float:
        heads = (layer.n_heads, n_kv_heads, layer.d_head)
        return kv_bytes(HeadLayout(layer.d_model, *heads), CONTEXT, dtype="bfloat16") * len(llama.layers) / 2**30

    return of_formulas | {
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
