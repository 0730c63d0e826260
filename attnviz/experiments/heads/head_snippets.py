"""The page's scores again, as a program for a notebook."""

from __future__ import annotations

from attnviz.experiments.heads.head_survey import COSTS, Config

_START = """\
import attnviz as av
from attnviz.experiments.heads import sentence_sets

loaded = av.load({model!r})
sentences = sentence_sets.sentences_of(loaded, {text!r}{own}, count={count}, length={length}{seed})
"""
_PATTERN = """\
table = av.find_heads(loaded, sentences, patterns=({measure!r},))
print(table)
table.plot()
"""
_COST = """\
means = av.mean_outputs(loaded, sentences)
# on {costs} of {count} sentences; the file keeps what is done
table = av.cost_of_heads(loaded, sentences[:{costs}], means=means, keep="costs.npz")
for head in table.top(5, {measure!r}):
    print(head)
"""


def program(model: str, config: Config, measure: str, costs: int) -> str:
    """Find the heads again that show `measure`, a pattern or a cost, most."""
    opening = _START.format(
        model=model,
        text=config.text,
        own=f", own={config.own!r}" if config.text == "own" else "",
        count=config.count,
        length=config.length,
        seed=f", seed={config.seed}" if config.text == "repeated" else "",
    )
    body = _COST if measure in COSTS else _PATTERN
    return opening + body.format(measure=measure, count=config.count, costs=costs)
