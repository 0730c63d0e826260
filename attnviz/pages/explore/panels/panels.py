"""The panels that unfold below the picture; each is computed only while it is open."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.app import widgets
from attnviz.app.code_snippet import snippet
from attnviz.app.guarding import guard
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import average as average_panel
from attnviz.pages.explore.panels import beside as beside_panel
from attnviz.pages.explore.panels import copied_run
from attnviz.pages.explore.panels import next as next_panel
from attnviz.pages.explore.panels import place as place_panel
from attnviz.pages.explore.panels import stages as stages_panel
from attnviz.pages.explore.panels import what_if as what_if_panel
from attnviz.pages.explore.panels.shown_head import Shown


def below(shown: Shown) -> None:
    """Draw six panels, closed at first, and the code that prints this head's numbers."""
    questions = [
        ("place", _("Where this head sits in the model"), ":material/account_tree:", place_panel.panel),
        ("stages", _("How it came about"), ":material/function:", stages_panel.panel),
        (
            "what_if",
            _("What if: another mask, another scale, a silenced head"),
            ":material/science:",
            what_if_panel.panel,
        ),
        ("next", _("What comes next"), ":material/arrow_forward:", next_panel.panel),
        ("average", _("Averages and rollout"), ":material/layers:", average_panel.panel),
        ("beside", _("Two side by side"), ":material/splitscreen_right:", beside_panel.panel),
    ]
    for name, title, icon, panel in questions:
        box = widgets.expander(choices.OPEN[name], title, icon=icon)
        if box.open:
            with box:
                _drawn(panel, shown)
    layer = shown.stack.layers[shown.layer]
    extras = (layer.softcap, layer.sinks, layer.bias)
    if shown.stack.same_tokens and layer.exact and all(extra is None for extra in extras):
        code(shown)


def _drawn(panel: Callable[[Shown], None], shown: Shown) -> None:
    """Draw a panel. Its error must be shown in here, not outside."""
    with guard():
        panel(shown)


def code(shown: Shown) -> None:
    """Draw the code that computes the chosen head's numbers with the package."""
    row = shown.matrix.row_at[min(shown.query, len(shown.matrix.row_at) - 1)]
    about = _(
        "Paste this code into a notebook: it prints the weights that the model gives in the row of “{token}” of the "
        "large picture, layer {layer}, head {head}, a line for each of its own tokens. What the panels above change "
        "has code of its own there."
    ).format(token=plain(shown.stack.queries.labels[row]), layer=shown.layer, head=shown.head)
    snippet(code_of(shown), key="explore", about=about)


def code_of(shown: Shown) -> str:
    """A program that prints the weights of the row that the page describes."""
    query = shown.matrix.row_at[min(shown.query, len(shown.matrix.row_at) - 1)]
    kv_head = shown.head // (shown.stack.layers[shown.layer].n_heads // shown.stack.layers[shown.layer].n_kv_heads)
    begin = "\n".join([*copied_run.imports(shown.run), *copied_run.opening(shown.run, shown.stack.id)])
    return f"""{begin}
layer = layers[{shown.layer}]
q = layer.q[0, {shown.head}]                               # (Q, D): this head's queries
k = layer.k[0, {kv_head}]                               # (K, D): the keys it reads
scores = q @ k.T * layer.scale                   # (Q, K)
scores = scores.masked_fill(~layer.mask[0, 0], -torch.inf)
weights = scores.softmax(-1)                     # rows sum to 1

for token, weight in zip(tokens.labels, weights[{query}]):
    print(f"{{token:>12}} {{weight:.4f}}")"""
