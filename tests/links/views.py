"""The views whose links are kept: each is reached as a visitor reaches it, by its controls, one after the other.

`start` holds parameters that a canvas or an expander writes, because no test without a browser can press
those. `steps` are controls, by their name in the link (or their key), each with the value it is set to.
"""

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TRANSLATOR = "{translator}"  #: stands for the folder of a tiny encoder-decoder that a test makes


@dataclass(frozen=True)
class View:
    """One view: its page, the link's parameters at first, and what is then chosen.

    packed     parameters that the app encodes, given as their plain values
    file       a saved view that is opened after the steps
    amplified  its layers amplify rounding: every number that it draws is kept, and compared by tests/links/amplified.py
    """

    name: str
    page: str
    start: dict[str, str] = field(default_factory=dict)
    packed: dict[str, Any] = field(default_factory=dict)
    steps: tuple[tuple[str, Any], ...] = ()
    file: dict[str, Any] | None = None
    amplified: bool = False


def bits(cells: np.ndarray) -> str:
    """A boolean grid as the page keeps it."""
    return base64.b64encode(np.packbits(cells).tobytes()).decode()


def grid(n: int, *cells: tuple[int, int]) -> np.ndarray:
    """n x n, True at the cells."""
    found = np.zeros((n, n), bool)
    for row, col in cells:
        found[row, col] = True
    return found


def opened(*panels: str) -> dict[str, str]:
    """Panels of Explore that are unfolded."""
    return {f"open_{panel}": "true" for panel in panels}


def _steps(**chosen: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(chosen.items())


SHORT = "The animal was too tired."
PAIR = {"model": "minilm-l6", "second": "He likes music."}
BAND = np.tril(np.ones((13, 13), bool)) & ~np.tril(np.ones((13, 13), bool), -5)

HOME = (
    View("home as it opens", "home"),
    View("home: another sentence, no mask", "home", steps=_steps(sentence="A cat sat on the mat.", causal=False)),
    View("home: neither mask nor scale", "home", steps=_steps(causal=False, scaled=False)),
    View("home: empty sentence", "home", start={"sentence": " "}),
)  # fmt: skip

EXPLORE = (
    View("explore as it opens", "explore"),
    View("explore: sentence, head, order", "explore", start={"at": "3.1"}, steps=_steps(text=SHORT, by="entropy")),
    View("explore: how it is drawn", "explore", start={"at": "5.2"}, steps=_steps(show="values", units="words",
         special="rest", colours="own", curve="root")),
    View("explore: a frame of one start token", "explore", steps=_steps(frame="start", by="first_token", text=SHORT)),
    View("explore: the chat template", "explore", steps=_steps(frame="chat", special="hidden", text=SHORT)),
    View("explore: nothing around it", "explore", start={"at": "1.4"}, steps=_steps(model="minilm-l6", frame="none")),
    View("explore: two sentences, one half", "explore", start={**PAIR, "at": "2.5"},
         steps=_steps(part="second to first")),
    View("explore: pins", "explore",
         packed={"c": {"pins": {"t": [["q", 3, "'t"], ["k", 1, "animal"], ["q", 10, "too"]]}}}),
    View("explore: a cell", "explore", packed={"c": {"pins": {"t": [], "c": [8, 1, "it", "animal"]}}},
         start=opened("stages")),
    View("explore: the last token pinned", "explore", packed={"c": {"pins": {"t": [["q", -1]]}}}),
    View("explore: pins on words", "explore",
         packed={"c": {"pins": {"t": [["k", 2, "didn"]], "c": [6, 2, "street", "didn"]}}},
         start=opened("stages"), steps=_steps(units="words")),
    View("explore: stages", "explore", start=opened("stages"), steps=_steps(stage_query=5, stage_key=2)),
    View("explore: no mask, no scale, all layers", "explore", start=opened("what_if"), steps=_steps(mask="none",
         scale="none", where="all", again=True), amplified=True),
    View("explore: a window and a factor", "explore", start={**opened("what_if"), "at": "7.3"},
         steps=_steps(mask="window", window=3, scale="factor", factor=0.35, where="layer")),
    View("explore: causal on an encoder", "explore", start={**opened("what_if"), **PAIR}, steps=_steps(mask="causal")),
    View("explore: a painted mask", "explore", start=opened("what_if"), packed={"c": {"mask": bits(BAND)}},
         steps=_steps(mask="painted")),
    View("explore: hidden tokens, silenced heads", "explore", start=opened("what_if"), steps=_steps(hide=[1, 4],
         quiet=["0.2", "13.8"], scale="inverse")),
    View("explore: everything on the canvas", "explore", start={**opened("stages", "what_if"), "mask": "painted"},
         packed={"c": {"pins": {"t": [["q", 6, "street"]], "c": [6, 2, "street", "didn"]},
         "mask": bits(BAND), "hide": [2], "quiet": ["4.0"], "stage": [7, None]}}),
    View("explore: next token", "explore", start=opened("next"), steps=_steps(temperature=0.5, topk=5)),
    View("explore: mean of chosen heads", "explore", start=opened("average"), steps=_steps(combine="chosen",
         mean_of_heads=["3.1", "4.2"])),
    View("explore: mean of all heads", "explore", start=opened("average"), steps=_steps(combine="all", text=SHORT)),
    View("explore: rollout", "explore", start=opened("average"), steps=_steps(combine="rollout", rollout_to=2)),
    View("explore: another head beside", "explore", start=opened("beside"), steps=_steps(beside_at_head="3.1")),
    View("explore: another sentence beside", "explore", start=opened("beside"), steps=_steps(beside="sentence",
         other_text="A dog ran.", beside_at_sentence="2.2")),
    View(
        "explore: another model beside",
        "explore",
        start={**opened("beside"), "other_model": "minilm-l6"},  # the only other model that is packaged
        steps=_steps(beside="model", beside_at_model="1.3"),
    ),
    View("explore: an encoder and a decoder", "explore", start={"model": "other", "hub_id": TRANSLATOR,
         "text": "the cat sat", "at": "0.1"}, steps=_steps(second="one two", stack="cross")),
    View("explore: another decoder's own attention", "explore", start={"model": "other", "hub_id": TRANSLATOR,
         "text": "the cat sat", "at": "1.2", "stack": "decoder"}, steps=_steps(second="one two three")),
    View("explore: a saved view is opened", "explore",
         file={"format": "attnviz-view-2", "page": "explore", "choices": {"text": SHORT,
         "at": "4.2", "by": "same_token", "units": "words", "curve": "root", "c": {"pins": {"t": [["q", 2, "was"]]}}}}),
    View("explore: a saved view with a painted mask is opened", "explore", start=opened("what_if", "next"),
         file={"format": "attnviz-view-2", "page": "explore",
         "choices": {**opened("what_if", "next"),
         "text": "The animal didn't cross the street because it was too tired.", "at": "10.1",
         "mask": "painted", "scale": "factor", "factor": "2.5", "temperature": "2", "special": "hidden",
         "c": {"pins": {"t": [["k", 4, "cross"]], "c": [6, 4, "street", "cross"]},
         "mask": bits(BAND), "hide": [3], "quiet": ["5.5"]}}}),
    View("explore: nonsense", "explore", start={"at": "99.0", "by": "nonsense", "model": "no-such-model",
         "mask": "999", "window": "999", "factor": "much", "again": "perhaps", **opened("what_if")},
         packed={"c": {"hide": [1, 999, "x"], "quiet": ["99.9", 7], "stage": [3, 400],
         "pins": {"t": [["q", 500, "x"]]}}}),
    View("explore: a damaged canvas", "explore", start={"at": "<b>", "c": "1garbage"}),
    View("explore: a canvas that was cut", "explore", start={"c": "1eNqrViouSUxPVbKKNtUxitVRKsjMK1"}),
)  # fmt: skip

BUILD = (
    View("build as it opens", "build"),
    View("build: everything on", "build", start={"b_step": "dropout", "b_dropout": "0.3", "b_train": "true"},
         steps=_steps(b_text="one two three", b_h="4", b_g="1", b_mask="window", b_window=3, b_pos="alibi", b_m=6,
         b_d=4, b_dv="3", b_batch=2, b_packed=True, b_bias=True, b_qknorm=True, b_scale=False, b_seed=7)),
    View("build: cross-attention", "build", start={"b_step": "softmax"}, steps=_steps(b_kind="cross",
         b_other="le chien", b_mask="padding", b_pos="sinusoidal")),
    View("build: rows of a trained model", "build", start={"b_step": "embed"}, steps=_steps(b_vectors="minilm-l6")),
    View("build: a cell, a head, a sentence", "build", start={"b_step": "softmax"}, packed={"b_at": {"r": 2, "c": 1,
         "h": 1, "s": 1}}, steps=_steps(b_batch=3, b_pos="rope", b_mask="causal")),
    View("build: edited weights", "build", start={"b_step": "project"}, packed={"b_at": {"p": 2, "e": [["W_Q", 0, 0,
         5.0], ["W_V", 1, 1, -2.0]]}}, steps=_steps(b_matrix="W_V")),
    View("build: sizes of one's own", "build", steps=_steps(b_ask="sizes", b_wrong="own", b_n_heads=6, b_n_kv_heads=3,
         b_queries=5, b_keys=7, b_values=6, b_q_width=3, b_k_width=2, b_v_width=4, b_mask_queries=1, b_mask_keys=2)),
    View("build: a mistake", "build", steps=_steps(b_ask="sizes", b_wrong="groups", b_code="mha")),
    View("build: why Q, K and V", "build", steps=_steps(b_ask="qkv", b_order="rotated", b_code="sdpa")),
    View("build: why softmax", "build", steps=_steps(b_ask="softmax", b_query="2")),
    View("build: why several heads", "build", steps=_steps(b_ask="heads", b_things="3", b_share=0.75)),
    View("build: pointing outside", "build", start={"b_step": "nowhere", "b_m": "99", "b_h": "999", "b_seed": "x"},
         packed={"b_at": {"r": 99, "c": 99, "h": 99, "s": 99, "p": 99}}),
    View("build: damaged edits", "build", packed={"b_at": {"e": [["__class__", 0, 0, 1]]}}),
)  # fmt: skip

MASKS = (
    View("masks as it opens", "masks"),
    View("masks: three rules", "masks", steps=_steps(m_text="one two three four five six seven eight", m_seed=5,
         m_rule1="window", m1_window_window=2, m1_window_both_sides=True, m_rule2="documents",
         m2_documents_lengths="3, 2", m_join2="or", m_rule3="prefix", m3_prefix_prefix_len=2, m_join3="or",
         m_layers=4)),
    View("masks: padding and dilated", "masks", steps=_steps(m_rule1="padding", m1_padding_pads=3,
         m1_padding_side="left", m_rule2="dilated", m2_dilated_dilation=3, m2_dilated_window=7,
         m2_dilated_both_sides=True, m_code="mask_mod", m_view="far")),
    View("masks: blocks and random", "masks", steps=_steps(m_rule1="blocks", m1_blocks_block=2, m1_blocks_neighbours=0,
         m1_blocks_global_tokens=2, m1_blocks_both_sides=True, m_rule2="random", m2_random_keys=2, m2_random_seed=9,
         m2_random_both_sides=True, m_join2="or", m_view="traps", m_trap="top_left", m_code="transformers")),
    View("masks: paint", "masks", packed={"m_paint": {"n": 10, "on": bits(grid(10, (0, 9), (3, 7))),
         "off": bits(grid(10, (9, 0), (9, 1)))}}, steps=_steps(m_rule1="causal", m_view="training", m_leak=2)),
    View("masks: paint of another length", "masks", packed={"m_paint": {"n": 4, "on": bits(grid(4, (0, 3))),
         "off": ""}}, steps=_steps(m_rule1="none", m_code="is_causal")),
    View("masks: damaged paint, wrong numbers", "masks", start={"m_paint": "nonsense", "m_seed": "99999",
         "m_rule1": "999", "m_layers": "13"}),
)  # fmt: skip

SCALING = (
    View("scaling as it opens", "scaling"),
    View("scaling: correlated components", "scaling", steps=_steps(s_dk=128, s_components="correlated",
         s_correlation=0.25, s_pairs=50_000, s_seed=3)),
    View("scaling: shifted components", "scaling", steps=_steps(s_components="shifted", s_mean=-1.5, s_dk=7)),
    View("scaling: temperature", "scaling", start={"s_temperature": "0.5"}, steps=_steps(s_section="saturation",
         s_dk=256, s_keys=9, s_seed=2)),
    View("scaling: softcap", "scaling", start={"s_softcap": "12.5"}, steps=_steps(s_section="saturation",
         s_alternative="softcap")),
    View("scaling: gradients", "scaling", steps=_steps(s_section="gradient", s_own=True, s_keys=6)),
    View("scaling: training", "scaling", start={"s_section": "training", "s_steps": "20", "s_seeds": "1",
         "s_dk": "16"}, steps=_steps(s_optimizer="adam", s_rate=0.05, s_seed=1)),
    View("scaling: alternatives", "scaling", start={"s_sink": "-1.5", "s_qk-norm": "20", "s_log-n": "64",
         "s_inverse": "2"}, steps=_steps(s_section="alternatives", s_alternative="sink", s_keys=8, s_dk=32)),
    View("scaling: a real head", "scaling", start={"s_section": "head"}, steps=_steps(s_model="minilm-l6",
         s_text=SHORT, s_layer=2, s_head=7, s_factor=0.5)),
    View("scaling: typed scores", "scaling", start={"s_section": "softmax"},
         steps=_steps(s_scores="[1, 2, 3, 4.5, -1]", s_T=0.7, s_block=3)),
    View("scaling: nonsense", "scaling", start={"s_section": "999", "s_dk": "5000", "s_seed": "x",
         "s_components": "none", "s_pairs": "1e4"}),
)  # fmt: skip

SHARING = (
    View("sharing as it opens", "sharing"),
    View("sharing: a trained model", "sharing", steps=_steps(h_lm="minilm-l6", h_text=SHORT, h_layer="3", h_kept="4",
         h_by="first", h_group="2")),
    View("sharing: in every layer", "sharing", steps=_steps(h_text=SHORT, h_by="random", h_scope="all")),
    View("sharing: counted over the batch", "sharing", start={"h_view": "count"}, steps=_steps(h_model="gemma-2-9b",
         h_context=4096, h_batch=8, h_axis="batch")),
    View("sharing: a shape of one's own", "sharing", start={"h_view": "count", "h_from": "own"},
         steps=_steps(h_n_layers=12, h_d_model=768, h_n_heads=12, h_n_kv_heads=4, h_d_head=64, h_d_ff=2048,
         h_vocab=32000, h_axis="heads")),
    View("sharing: latents of one's own", "sharing", start={"h_view": "size", "h_from": "own", "h_scheme": "latent"},
         steps=_steps(h_kv_rank=256, h_d_rope=32)),
    View(
        "sharing: a pasted config",
        "sharing",
        start={"h_view": "count", "h_from": "config"},
        steps=_steps(
            h_config='{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,\n'
            ' "num_key_value_heads": 2, "intermediate_size": 1024, "vocab_size": 1000}'
        ),
    ),
    View("sharing: a quantised deployment", "sharing", start={"h_view": "size"},
         steps=_steps(h_model="mistral-7b-v0.1", h_weights="int4", h_cache="int8", h_scale=32, h_as="paged",
         h_hybrid=False, h_gpu="typed", h_gib=24, h_gbs=1000, h_tflops=165, h_context=32768)),
    View("sharing: to prove", "sharing", start={"h_view": "prove"}, steps=_steps(h_model="gpt2", h_tokens=64)),
    View("sharing: latents", "sharing", start={"h_view": "latent"}, steps=_steps(h_mla="deepseek-v2", h_context=1024)),
    View("sharing: published numbers", "sharing", start={"h_view": "published"}),
    View("sharing: nonsense", "sharing", start={"h_view": "count", "h_model": "999", "h_from": "x", "h_context": "0",
         "h_axis": "<b>"}),
)  # fmt: skip

WHY = (
    View("why as it opens", "why"),
    View("why: another token, its logit alone, a head silenced", "why", steps=_steps(why_text="The opposite of hot is",
         why_token="warm", why_alone=True, why_at="29.7", why_silence=True)),
    View("why: a circuit of heads and MLPs", "why", start={"why_section": "circuit"}, steps=_steps(why_size=5,
         why_mlps=True)),
    View("why: two prompts of one's own", "why", start={"why_section": "patches", "why_token": "mat",
         "why_versus": "floor"}, steps=_steps(why_text="A cat sat on the", why_other="A dog lay on the")),
    View("why: nonsense", "why", start={"why_section": "x", "why_at": "99.99", "why_size": "0", "why_token": " "}),
)  # fmt: skip

BORN = (
    View("born as it opens", "born"),
    View("born: other words, guessed, a head silenced", "born", start={"born_at": "1500", "born_guess": "1000",
         "born_off": "0.0,1.2"}, steps=_steps(born_words="two birds saw a small red boat")),
    View("born: the run without its first layer", "born", start={"born_guess": "never"}, steps=_steps(
         born_run="blurred")),
    View("born: one layer alone", "born", start={"born_section": "others"}, steps=_steps(born_changed="one-layer")),
    View("born: a trained model", "born", start={"born_section": "real"}),
    View("born: nonsense", "born", start={"born_section": "x", "born_at": "-1", "born_off": "9.9", "born_run": "y",
         "born_guess": "z"}),
)  # fmt: skip

PICTURES = (
    View("pictures as it opens", "pictures"),
    View("pictures: pinned, hidden, silenced, scaled", "pictures", start={"pic_layer": "1", "pic_head": "2",
         "pic_factor": "2.5"}, packed={"pic_view": {"p": [12, 40], "h": [18, 19, 26, 27], "s": [["picture", 2, 1]]}},
         steps=_steps(pic_digits="8", pic_hand=3, pic_order="distance")),
    View("pictures: a word that was written", "pictures", start={"pic_model": "digit-reader", "pic_shows": "row"},
         packed={"pic_view": {"p": [1]}}, steps=_steps(pic_digits="205")),
    View("pictures: rollout of the reader's patches", "pictures", start={"pic_model": "digit-reader",
         "pic_shows": "rollout", "pic_layer": "2"}, steps=_steps(pic_stack="picture")),
    View("pictures: a photograph", "pictures", steps=_steps(pic_from="photo", pic_photo="temple",
         pic_order="entropy")),
    View("pictures: nonsense", "pictures", start={"pic_layer": "99", "pic_shows": "x", "pic_hand": "-3",
         "pic_photo": "nowhere"}, packed={"pic_view": {"p": [3, 900], "h": [4, 4000]}}),
)  # fmt: skip

TWO_SOURCES = (
    View("build: a picture beside the text", "build", steps=_steps(b_ask="picture")),
    View("build: without the norm of the picture's keys", "build", steps=_steps(b_ask="picture", b_other="un deux",
         b_digit=8, b_norms="text", b_factor=0.5, b_looker="2", b_h="4", b_g="2")),
)  # fmt: skip

#: what later versions of the app have made links of
FAST = (
    View("fast as it opens", "fast"),
    View("fast: a film of the backward pass under a window", "fast", steps=_steps(fast_n=160, fast_block_q="32",
         fast_block_k="64", fast_mask="window", fast_window=40, fast_pass="backward", fast_d=16, fast_seed=5)),
    View("fast: a trap on a sentence of one's own", "fast", start={"fast_section": "traps"}, steps=_steps(
         fast_trap="skipped", fast_text="One causal tile too many")),
    View("fast: what another shape costs on another GPU", "fast", start={"fast_section": "cost"}, steps=_steps(
         fast_tokens=4096, fast_heads=16, fast_kv=4, fast_width=64, fast_causal=True, fast_gpu="h100", fast_kib=100,
         fast_dtype="float32")),
    View("fast: what was measured on a machine", "fast", start={"fast_section": "measured",
         "fast_machine": "given-fast-amd-epyc-cpu"}),
    View("fast: blocks of eight, nothing shared", "fast", start={"fast_section": "paged"}, steps=_steps(fast_block=8,
         fast_shared=0, fast_requests=4, fast_answer=32, fast_seed=3, fast_step=12)),
    View("fast: nonsense", "fast", start={"fast_section": "cost", "fast_tokens": "0", "fast_gpu": "x",
         "fast_dtype": "int3", "fast_kib": "-1"}),
)  # fmt: skip

LATER = {"version_2": (*PICTURES, *TWO_SOURCES), "version_3": WHY, "version_4": FAST, "version_5": BORN}
VIEWS = (*HOME, *EXPLORE, *BUILD, *MASKS, *SCALING, *SHARING)
