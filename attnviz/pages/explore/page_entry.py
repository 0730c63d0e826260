"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import LOOK, Page
from attnviz.base.words import N_

PAGE = Page(
    name="explore",
    title=N_("Explore"),
    heading=N_("Explore attention"),
    about=N_("Each small square is one head of a trained model reading your sentence. Click one."),
    icon=":material/search:",
    group=LOOK,
    question=N_("Where does each head of a real model look, and what changes when I change its mask or its scale?"),
    terms=("token", "head", "layer", "weight", "causal_mask", "sink", "next_token"),
)
