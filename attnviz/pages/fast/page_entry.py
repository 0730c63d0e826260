"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="fast",
    title=N_("Fast attention"),
    heading=N_("Attention, tile by tile"),
    about=N_(
        "The matrix of scores is never built whole: it is computed in tiles, and each row keeps two numbers and its "
        "output."
    ),
    icon=":material/bolt:",
    group=UNDERSTAND,
    question=N_("Why is flash attention fast, and how can it be exact without ever holding the matrix?"),
    terms=("tile", "online_softmax", "roofline", "paged_cache"),
    scripts=(CHART,),
)
