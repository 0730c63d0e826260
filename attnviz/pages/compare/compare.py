"""Page: attention against recurrence and convolution, by reach, cost, time and sharing."""

import streamlit as st

from attnviz.app import page_parts, show
from attnviz.base import units
from attnviz.base.words import _
from attnviz.pages.compare import choices, figures
from attnviz.pages.compare.maths import layer_costs
from attnviz.pages.compare.page_entry import PAGE
from attnviz.pages.compare.panels import cost_table, race, what_is_shared


def page() -> None:
    """Draw the page."""
    page_parts.draw_sections(
        PAGE,
        choices.SECTION,
        {
            "table": (_("Race and costs"), draw_race_and_costs),
            "shared": (_("What is shared"), what_is_shared.panel),
        },
    )


def draw_race_and_costs() -> None:
    """Draw section 1: the race, what each layer costs, and what it is used for."""
    with page_parts.main_picture():
        race.draw_race()
    st.subheader(_("What it costs"), anchor=False)
    cost_table.panel()
    st.subheader(_("Typical uses"), anchor=False)
    _draw_typical_uses()


def _draw_typical_uses() -> None:
    """Draw what each layer is used for, and what the others would cost there."""
    st.markdown(
        _(
            "**A recurrence** suits tokens that arrive one by one: its state has a fixed size, however long the "
            "input. **A convolution** suits inputs of very many places in which neighbours matter most. "
            "**Attention** suits inputs in which any two places may belong together, and pays for every pair."
        )
    )
    names = figures.kind_names()
    used_for = {
        "speech": _("Speech, while it is spoken"),
        "series": _("Time series, hour by hour"),
        "words": _("A recurrent language model"),
        "letters": _("Text in letters, by 1-D convolution"),
        "objects": _("Objects in pictures"),
        "regions": _("Pictures cut into regions"),
        "translation": _("Translation of sentences"),
        "patches": _("Pictures in patches"),
        "reading": _("Reading a text both ways"),
        "writing": _("Writing text on, token by token"),
        "chat": _("Chat over long texts"),
    }
    rows = [
        {
            _("used for"): used_for[use.id],
            _("layer"): names[use.kind],
            _("model"): use.model,
            "n": use.sizes.n,
            "d": use.sizes.d,
            "k": use.sizes.k,
            **{names[kind]: units.flop(use.costs[kind][0]) for kind in layer_costs.COMPARED},
            _("an LSTM waits"): use.costs["lstm"][1],
            _("a convolution’s path"): use.costs["conv"][2],
            _("its curves"): _address(use.sizes),
            _("source"): use.source,
        }
        for use in layer_costs.USES
    ]
    cheaper = sum(use.costs["attention"][0] <= use.costs["lstm"][0] for use in layer_costs.USES)
    dear = max(layer_costs.USES, key=lambda use: use.costs["attention"][0] / use.costs[use.kind][0])
    st.markdown(
        _(
            "FLOPs of one layer, forward, as torch’s counter counts them. Self-attention takes no more than "
            "an LSTM in **{some} of {all}** uses, those with n ≤ 2d. In {use} it would take {times:,.0f} times what "
            "the {layer} takes; an LSTM would wait {steps:,} times there."
        ).format(
            some=cheaper,
            all=len(layer_costs.USES),
            use=dear.model,
            times=dear.costs["attention"][0] / dear.costs[dear.kind][0],
            layer=names[dear.kind],
            steps=dear.costs["lstm"][1],
        )
    )
    with st.expander(_("All {n} uses").format(n=len(rows))):
        show.table_with_downloads(show.to_columns(rows), "typical-uses", "c-uses", link=_("its curves"))
    show.program(layer_costs.USES_PROGRAM, "c-uses")


def _address(sizes: layer_costs.Config) -> str:
    """A link to the curves of section 1 at these sizes."""
    return "./compare?" + "&".join(f"{choice.name}={getattr(sizes, size)}" for size, choice in choices.SIZES.items())


if __name__ == "__main__":  # Streamlit runs this file
    page()
