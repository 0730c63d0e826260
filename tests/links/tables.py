"""What the pages compute, as digests: the tables that their export menus save, and the charts beside them.

A page's script runs for a link as it runs for `attnviz figure`: without a server and without a browser, with every
panel whole. Times that this machine takes are left out.
"""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from attnviz.app.exports import GATHERING, ExportOffer, Gathering  # all that is known of the app's inside
from attnviz.app.page_entry import file_of
from attnviz.serve.page_table import MAIN
from tests.links import canvases
from tests.links.differences import where
from tests.links.digest import array_of, digest
from tests.links.printed import COLOUR
from tests.links.what_a_link_shows import chart, table

KEPT = Path(__file__).with_name("tables.json")
FONTS = re.compile(r"<style>.*?</style>", re.DOTALL)  #: which an SVG brings along, as bytes in letters
DRAWN = re.compile(r"-?\d+(?:\.\d+)?")  #: a number of an SVG: a comma there is between two
LISTED = 3  #: entries of a column of words that are kept as they are
TIMED = ("decoding-time",)  #: figures of times that this machine takes: another number in every run
#: Compared as loosely as they ask. Cosines of thousands of radians, whose angles float32 knows to a thousandth. What
#: rounding a cache to 4 bits does: a number at the edge between two codes may get the other one on another processor,
#: which moves the largest difference of a logit (measured with and without AVX-512: by 0.03 of 3.7, by 0.14 of a small
#: one).
LOOSE = {"longer-distance": 0.05, "quantised-cache": 0.2, "quantised-errors": 0.005}
#: The links whose tables are kept: each page as it opens, its sections, and other choices in them. After a bar stands
#: the button that is pressed there.
LINKS: dict[str, tuple[str, ...]] = {
    "home": (
        "",
        "sentence=A+cat+sat+on+the+mat.&causal=false",
        "scaled=false&start_seen=difference",
        "start_mask=window&start_window=3&start_scale=inverse",
        "start_scale=factor&start_factor=0.3&sentence=one+two+three",
        "start=1eNqrVsrITElVsoo20jGNrQUAIaIEXA",
    ),
    "lessons": tuple(
        f"lesson={lesson}&step={step}"
        for lesson, steps in {
            "attention": (5, 6), "row": (1, 3, 5), "scaling": (1, 3, 5), "heads": (1, 2, 4), "masks": (1, 3, 4),
            "order": (2, 3, 4), "cache": (1, 3), "model": (2, 6),
        }.items()
        for step in steps
    ),
    "build": (
        "",
        "b_ask=sizes&b_wrong=groups&b_step=softmax&b_mask=causal",
        "b_ask=qkv&b_order=rotated&b_step=scores&b_pos=rope&b_h=4&b_g=2",
        "b_ask=softmax&b_query=2&b_at=1eNqrVipQsjLSUUpVsoqOVgqPD1TSMQBCUz2DWB0QP0xJxxAIdY2AArG1AAdSCzE&b_step=project&b_scale=false&b_seed=7&b_qknorm=true",
        "b_ask=heads&b_things=3&b_share=0.75&b_step=output&b_kind=cross&b_pos=sinusoidal",
        "b_ask=picture&b_other=un+deux&b_digit=8&b_norms=text&b_factor=0.5&b_h=4&b_g=2",
        "b_text=one+two+three&b_step=dropout&b_dropout=0.3&b_train=true&b_mask=window&b_window=3&b_pos=alibi&b_m=6",
    ),
    "scaling": (
        "",
        "s_components=correlated&s_correlation=0.25&s_dk=128&s_pairs=50000&s_seed=3",
        "s_section=saturation&s_dk=256&s_keys=9&s_alternative=softcap&s_softcap=12.5&s_more=true",
        "s_section=gradient&s_own=true&s_keys=6",
        "s_section=training&s_steps=20&s_seeds=2&s_dk=16&s_optimizer=adam&s_rate=0.05",
        "s_section=alternatives&s_alternative=sink&s_sink=-1.5&s_keys=8&s_dk=32",
        "s_section=head&s_model=minilm-l6&s_text=The+animal+was+too+tired.&s_layer=2&s_head=7&s_factor=0.5",
        "s_section=softmax&s_scores=%5B1,+2,+3,+4.5,+-1%5D&s_T=0.7&s_block=3",
    ),
    "masks": (
        "",
        "m_text=one+two+three+four+five+six+seven+eight&m_seed=5&m_rule1=window&m1_window_window=2&m_rule2=documents"
        "&m2_documents_lengths=3,+2&m_join2=or&m_layers=4",
        "m_view=far&m_rule1=padding&m1_padding_pads=3&m1_padding_side=left&m_rule2=dilated&m2_dilated_dilation=3"
        "&m2_dilated_window=7",
        "m_view=traps&m_trap=top_left&m_rule1=blocks&m1_blocks_block=2"
        "&m_paint=1eNqrVspTsjI00FHKB9JKjq6OQBDoiAC2tkpAubQ0kCQqKAdL1gIAHG0QnA",
        "m_view=traps",
        "m_view=training&m_leak=2",
    ),
    "positions": (
        "",
        "p_order=reverse&p_causal=true&p_kind=rope-half&p_text=a+dog+bites+a+man",
        "p_section=scores&p_encoding=alibi&p_n=32&p_heads=4&p_shown=2&p_both=false",
        "p_section=circle&p_pair=3&p_q=20&p_k=5&p_base=500",
        "p_section=longer&p_method=ntk&p_factor=8&p_trained=2048",
        "p_section=video&p_v_digit=3&p_v_frame=1&p_v_turned=false",
        "p_section=head&p_change=base&p_where=layer&p_text=The+animal+was+too+tired.",
        "p_section=norm&p_norm=none&p_growth=4&p_normwidth=16",
    ),
    "sharing": (
        "h_lm=minilm-l6&h_text=The+animal+was+too+tired.&h_layer=3&h_kept=4&h_by=first&h_group=2&h_heads=true",
        "",
        "h_view=count&h_model=gemma-2-9b&h_context=4096&h_batch=8&h_axis=batch",
        "h_view=size&h_model=mistral-7b-v0.1&h_weights=int4&h_cache=int8&h_scale=32&h_as=paged&h_hybrid=false",
        "h_view=prove&h_model=gpt2&h_tokens=64|Build it without memory and measure",
        "h_view=latent&h_mla=deepseek-v2&h_context=1024",
        "h_view=published",
    ),
    "decoding": (
        "",
        "d_view=bytes&d_tokens=512&d_dtype=int8",
        "d_view=numbers&d_text=The+keeper+wrote+down+every+ship+that+passed.",
        "d_view=policies&d_policy=window&d_budget=8&d_text=The+keeper+wrote+down+every+ship+that+passed.",
        "d_view=speed",
        "d_view=traps",
        "d_model=core&d_steps=6&d_layer=0&d_head=1&d_seed=4",
    ),
    "compare": (
        "",
        "c_count=table&c_axis=d&c_n=256&c_d=128&c_k=5&c_window=32&c_heads=4",
        "c_section=measured&c_pass=training",
        "c_section=reach&c_reach_n=12&c_reach_steps=20&c_reach_layers=2&c_seed=3|Train",
        "c_section=shared&c_places=5&c_input=4&c_kernel=5",
        "c_axis=k&c_n=64",
    ),
    "explore": (
        "",
        "at=3.1&text=The+animal+was+too+tired.&by=entropy&open_stages=true&open_place=true&show=values&units=words",
        "at=7.3&open_what_if=true&mask=window&window=3&scale=factor&factor=0.35&where=layer&again=true&seen=difference"
        "&c=1eNqrVirIzCtWsqpWKlGyio5WKlTSMY6N1VFKBvIsdAxja3WUMjJTUoE8I6BoYWlmKkidkomegRKQn1-WWgTkApUBAPrJFNY",
        "text=The+animal+was+too+tired.&open_next=true&topk=5&temperature=0.5&special=rest",
        "text=The+animal+was+too+tired.&open_average=true&combine=rollout&rollout_to=6",
        "model=minilm-l6&second=He+likes+music.&at=2.5&part=second+to+first&open_beside=true&beside_head=1.3",
    ),
    "heads": (
        "",
        "hd_by=duplicate_token&hd_against=mean&hd_at=3.1&hd_example=2",
        "hd_text=books&hd_by=first_token&hd_at=4.2",
        "hd_text=own&hd_own=A+cat+sat+on+a+mat.+A+cat+sat.&hd_by=same_token&hd_example=1",
        "hd_model=minilm-l6&hd_by=previous_token",
        "hd_other=minilm-l6&hd_of=second&hd_by=same_token",
    ),
    "pictures": (
        "",
        "pic_digits=8&pic_hand=3&pic_layer=1&pic_head=2&pic_factor=2.5&pic_order=distance"
        "&pic_view=1eNqrVipQsoo2NNIxMYjVUcoAsS10DC11jMx0jMyBIsVAkWilgszkktKiVCUdIx3D2NhaAGSIDgw",
        "pic_model=digit-reader&pic_digits=205&pic_shows=row",
        "pic_model=digit-reader&pic_shows=rollout&pic_layer=2&pic_stack=picture",
        "pic_from=photo&pic_photo=temple&pic_order=entropy&pic_shows=mean&pic_layer=3",
        "pic_shows=layers&pic_head=1",
    ),
    "why": (
        "",
        "why_text=The+opposite+of+hot+is&why_token=warm&why_alone=true&why_at=29.7&why_silence=true",
        "why_section=circuit&why_size=5",
        "why_section=circuit&why_mlps=true&why_text=The+keys+to+the+cabinet",
        "why_section=patches",
        "why_section=patches&why_text=A+cat+sat+on+the&why_other=A+dog+lay+on+the&why_token=mat&why_versus=floor",
    ),
    "born": (
        "",
        "born_at=1500&born_guess=300&born_off=0.0&born_words=two+birds+saw+a+small+red+boat",
        "born_run=blurred&born_at=700",
        "born_section=others",
        "born_section=others&born_changed=no-mask",
        "born_section=real",
    ),
    "fast": (
        "",
        "fast_n=200&fast_block_q=64&fast_block_k=32&fast_mask=window&fast_window=50&fast_at=4",
        "fast_pass=backward&fast_d=16&fast_seed=2",
        "fast_section=numerics&fast_scores=4&fast_rounded=16",
        "fast_section=traps&fast_trap=skipped",
        "fast_section=cost",
        "fast_section=cost&fast_tokens=4096&fast_heads=16&fast_kv=4&fast_width=64&fast_causal=true&fast_gpu=h100",
        "fast_section=measured&fast_machine=given-fast-amd-epyc-cpu",
        "fast_section=paged",
        "fast_section=paged&fast_block=8&fast_shared=0&fast_requests=4&fast_answer=32&fast_seed=3&fast_step=12",
    ),
    "glossary": ("",),
}  # fmt: skip


def kept() -> list[dict[str, Any]]:
    """What each link showed when it was kept."""
    found: list[dict[str, Any]] = json.loads(KEPT.read_text("utf-8"))
    return found


@dataclass
class AllTables(Gathering):
    """Makes every figure that a page offers, where a command wants one."""

    wanted: str | None = None
    made: list[ExportOffer] = field(default_factory=list)

    def take(self, offer: Any) -> None:
        self.made.append(offer.made())


def computed(page: str, link: str) -> dict[str, Any]:
    """What a page offers and draws for a link: each figure's table and chart, and what else it shows in numbers."""
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    app, offered = AppTest.from_file(MAIN, default_timeout=300), AllTables()
    app.session_state[GATHERING] = offered
    if page != "home":
        app.switch_page(os.path.relpath(file_of(page), MAIN.parent))
    query, _bar, press = link.partition("|")
    for name, value in parse_qsl(query, keep_blank_values=True):
        app.query_params[name] = value
    app.run()
    if press:
        offered.made.clear()
        next(button for button in app.button if button.label == press).click().run()
    figures = _figures(offered.made)
    drawn = [figure.get("chart", {}).get("traces") for figure in figures]
    charts = [chart(each.proto.spec) for each in app.get("plotly_chart")]
    blobs = [bytes(each.proto.bytes) for each in app.get("bidi_component") if each.proto.bytes]
    return {
        "page": page,
        "link": link,
        "problems": len(app.exception) + len(app.error),
        "figures": [figure for figure in figures if figure["name"] not in TIMED],
        "charts": [each for each in charts if each["traces"] not in drawn],
        "frames": [table(each.value) for kind in ("dataframe", "arrow_data_frame", "table") for each in app.get(kind)],
        "canvases": [each for each in map(canvases.facts, blobs if not figures else ()) if each is not None],
    }


def differing(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """The places at which a link shows something else than it did."""
    yield from where(
        *(each | {"figures": [f for f in each["figures"] if f["name"] not in LOOSE]} for each in (old, new))
    )
    for name, relative in LOOSE.items():
        pair = ([f for f in each["figures"] if f["name"] == name] for each in (old, new))
        yield from where(*pair, f"{name} ", relative=relative)


def _figures(made: Iterable[ExportOffer]) -> list[dict[str, Any]]:
    """The table and the chart of each figure; of a picture without a table the numbers that draw it."""
    found: list[dict[str, Any]] = []
    for figure in made:
        one: dict[str, Any] = {"name": figure.file_name}
        if isinstance(figure.fig, Figure):
            one["chart"] = chart(figure.fig.to_json())
        elif figure.table is None:
            svg = FONTS.sub("", figure.fig.to_svg())
            one["drawn"] = digest([float(number) for number in DRAWN.findall(COLOUR.sub("", svg))])
        if figure.table is not None:
            columns = {str(name): column(list(figure.table[name])) for name in figure.table}
            one["table"] = next((other["name"] for other in found if other.get("table") == columns), columns)
        found.append(one)
    return found


def column(cells: list[Any]) -> dict[str, Any]:
    """Fractions as numbers that may differ a little; words and whole numbers as what must be the same."""
    numbers = array_of([None if isinstance(cell, str) and not cell else cell for cell in cells])
    if numbers is not None and any(isinstance(cell, (float, np.floating)) or "." in str(cell) for cell in cells):
        return digest(numbers)
    text = [str(cell) for cell in cells]
    return {"rows": len(text), "first": text[:LISTED], "hash": sha256("\n".join(text).encode()).hexdigest()[:16]}
