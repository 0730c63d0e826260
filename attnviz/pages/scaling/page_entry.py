"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import CHART, FORMULA, METRIC, UNDERSTAND, Page
from attnviz.base.words import N_

PAGE = Page(
    name="scaling",
    title=N_("Scaling"),
    heading=N_("Why divide by √d_k?"),
    about=N_(
        "“… pushing the softmax function into regions where it has extremely small gradients” (Vaswani et al., 2017)"
    ),
    icon=":material/straighten:",
    group=UNDERSTAND,
    question=N_("Why are scores divided by √d_k, and what happens to softmax, gradients and training without it?"),
    terms=("d_k", "scaling", "softmax", "saturation", "entropy", "nat"),
    scripts=(METRIC, FORMULA, CHART),
)
