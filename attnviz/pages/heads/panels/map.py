"""The map of all heads, and sentences of the chosen one."""

import math

import numpy as np
import streamlit as st

from attnviz.analysis.heads import batches
from attnviz.analysis.heads.scan import NAMED
from attnviz.analysis.model_run import Request
from attnviz.app import guess, head_drawing, page_parts, show, widget_values, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_problems
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.largest import find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences, ngettext
from attnviz.canvas import heads_map
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels.head_surveys import (
    DisplayedScan,
    format_with_error,
    measure_names,
)

_OPENED = "_hd_opened"  #: the map whose head a hand has opened


def draw_map(scan: DisplayedScan, chosen: int | None, key: str) -> None:
    """Draw the map of all heads of one model."""
    figure = map_figure(scan, chosen)

    def choose(choice: tuple[int | None, str, bool]) -> None:
        column, by, opens = choice
        if opens:
            st.session_state[_OPENED] = key
        elif by != link_state.value(choices.ORDER):
            link_state.set_and_push(choices.ORDER, by)
        elif column is not None:
            choose_head(scan, column)

    heads_map.heads_map(f"{key}_canvas", figure, on_choose=choose)
    if st.session_state.get(_OPENED) == key:
        del st.session_state[_OPENED]
        column = strongest_head(scan.result, link_state.value(choices.MEASURE)) if chosen is None else chosen
        sentence = scan.result.sentences[int(figure.numbers[column, 7])]
        page_parts.open_explorer(scan.model, sentence, scan.result.places[column])
    if scan.section == "first":
        _ask(scan)
    kinds = kinds_sentence(scan.result)
    show.footer(
        lambda: SceneFigure((figure,), _("All heads of {name}").format(name=scan.name), figure),
        name=f"heads-{scan.model}",
        key=key,
        canvas=show.live_canvas(f"{key}_canvas"),
        table=lambda: measures_table(scan.result),
        sentence=kinds,
        caption=join_sentences(kinds, source_sentence(scan)),
    )


def _ask(scan: DisplayedScan) -> None:
    """Ask which layers have the most sinks; the answer puts the heads in the model's order.

    Not where two thirds have alike or there are hardly any, nor while sentences are read; nor where the heads stand in
    that order already: the answer is on show.
    """
    thirds = head_survey.count_by_thirds(scan.result, "first_token")
    counts = np.array([third.heads for third in thirds])
    if counts.sum() < 3 or any(live.running for live in scan.live) or not (most := find_largest(counts)).alone:
        return
    about = f"{scan.model}.{'-'.join(map(str, counts))}"
    if link_state.value(choices.ORDER) == "layer" and guess.asked_about(choices.GUESS) != about:
        return
    layers = _("layers {first} to {last}")
    counted = _("{n} in layers {first} to {last}")
    because = _("First-token heads: {counts}.").format(
        counts=join_list(counted.format(n=third.heads, first=third.first, last=third.last) for third in thirds)
    )
    guess.ask(
        choices.GUESS,
        _("Which layers have the most of the {n} first-token heads?").format(n=counts.sum()),
        {str(at): layers.format(first=third.first, last=third.last) for at, third in enumerate(thirds)},
        lambda: (str(most.index), because),
        about=about,
        shows=lambda answered: {choices.ORDER: "layer" if answered else choices.ORDER.default},
    )


def map_figure(scan: DisplayedScan, chosen: int | None) -> heads_map.HeadsMapFigure:
    """The picture of all heads, with the sentence and the tenths of each head's strongest pattern."""
    result, nouns = scan.result, measure_names()
    strongest = head_survey.strongest_patterns(result)
    patterns = [kind for kind in head_survey.PATTERNS if kind in result.measures]
    measures = [result.measures[kind] for kind in patterns]

    def own(statistic: str) -> np.ndarray:
        """That statistic of each head's strongest pattern."""
        stacked = np.stack([getattr(measure, statistic) for measure in measures])
        return np.asarray(stacked[strongest.number, np.arange(len(result.places))], float)

    costs = result.measures.get("silenced")
    numbers = np.column_stack([
        np.array(result.places, float),
        strongest.number,
        strongest.named,
        own("stderr"),
        np.full(len(result.places), np.nan) if costs is None else costs.mean,
        own("explained"),
        own("best")[:, 0],
        np.stack([measure.mean for measure in measures], 1),
        own("best_scores"),
    ])  # fmt: skip
    named = {}
    for kind in patterns:
        pattern = NAMED[kind]
        named[kind] = (
            translate_markdown(pattern.head),
            translate_markdown(pattern.does),
            nouns[kind],
            head_survey.pattern_cells(kind, heads_map.WORDS),
        )
    return heads_map.HeadsMapFigure(
        numbers, named, result.sentences, scan.decoder, chosen, link_state.value(choices.ORDER)
    )


def kinds_sentence(result: head_survey.HeadScan) -> str:
    """The sentence under the map: how many heads have a name, and how much of their rows it explains."""
    strongest = head_survey.strongest_patterns(result)
    unnamed = int((~strongest.named).sum())
    counted = _("**{unnamed} of {all}** heads have no name: no pattern has half of their weight.").format(
        unnamed=unnamed, all=len(result.places)
    )
    shares = strongest.explained[strongest.named & np.isfinite(strongest.explained)]
    if not len(shares):
        return counted
    explained = _("The others’ names explain **{mean:.0%}** of their rows on average, from {low:.0%} to {high:.0%}.")
    return join_sentences(
        counted,
        explained.format(mean=Rounded(shares.mean()), low=Rounded(shares.min()), high=Rounded(shares.max())),
    )


def choose_head(scan: DisplayedScan, column: int) -> None:
    """Select a head by its index, and the pattern it shows most. A callback."""
    if 0 <= column < len(scan.result.places):
        link_state.set_many({
            choices.MODEL_OF_HEAD: scan.section,
            choices.CHOSEN_HEAD: scan.result.places[column],
            choices.MEASURE: head_survey.strongest_pattern(scan.result, column),
            choices.EXAMPLE: choices.EXAMPLE.default,
        })  # fmt: skip


def measures_table(scan: head_survey.HeadScan) -> dict[str, list[object]]:
    """Table of every measure of every head."""
    layers, heads = zip(*scan.places, strict=True)
    columns: dict[str, list[object]] = {"layer": list(layers), "head": list(heads)}
    for name, measure in scan.measures.items():
        columns |= {
            f"{name} {statistic}": [
                "" if math.isnan(value) else float(f"{Rounded(value):.5g}".replace(",", ""))
                for value in getattr(measure, statistic)
            ]
            for statistic in ("mean", "stderr", "stability")
        }
        columns[f"{name} sentences"] = measure.counts.tolist()
    return columns


def source_sentence(scan: DisplayedScan) -> str:
    """Sentence about the texts and how they were read."""
    about, config = scan.result.about, scan.config
    n = len(scan.result.sentences)
    texts = {
        "books": _("{n} passages of eight novels of 1813 to 1897, each cut at {length} tokens."),
        "repeated": _("{n} texts of random words twice over, {length} tokens each, seed {seed}."),
        "own": ngettext(
            "{n} sentence of your own text, cut at {length} tokens.",
            "{n} sentences of your own text, each cut at {length} tokens.",
            n,
        ),
    }
    return join_sentences(
        texts[config.text].format(n=n, length=config.length, seed=config.seed),
        _("Computed beforehand on {made} with torch {torch} and transformers {transformers}.").format(**about)
        if about
        else "",
        ngettext(
            "Costs are those of the first {n} of these texts.",
            "Costs are means over the first {n} of these texts.",
            scan.n_cost_sentences,
        ).format(n=scan.n_cost_sentences)
        if scan.has_measure("silenced")
        else "",
    )


def measure_sentence(scan: DisplayedScan, by: str) -> str:
    """Sentence about the head that has most of a measure."""
    measure, places = scan.result.measures[by], scan.result.places
    if not np.isfinite(measure.mean).any():
        return _("No sentence here has a place to measure it: repeat a word.")
    most = find_largest(measure.mean)
    best = most.index
    layer, head = places[best]
    is_cost = by in head_survey.COSTS
    text = (
        _("All heads have **{mean}**.")
        if not most.alone and np.nanmin(measure.mean) == most.value
        else _("Most in **layer {layer}, head {head}: {mean}** ({evidence}). {below} of {all} heads are below 0.")
        if is_cost
        else _(
            "Most in **layer {layer}, head {head}: {mean}** ({evidence}; among the first ten heads in {stability:.0%} "
            "of these texts). {half} of {all} heads have at least half of their weight there."
        )
    )
    count = int(measure.counts[best])  # what the number behind ± is; a single sentence gives none
    return text.format(
        layer=layer,
        head=head,
        mean=format_with_error(measure.mean[best], measure.stderr[best], 3 if is_cost else 2),
        evidence=_("from a single sentence") if count < 2 else _("standard error over {n} sentences").format(n=count),
        stability=measure.stability[best],
        all=len(places),
        below=int((measure.mean < 0).sum()),
        half=head_survey.count_heads(scan.result, by),
    )


def draw_evidence(scan: DisplayedScan, by: str, column: int) -> None:
    """Write the names of the head, its number, and the heads with the largest."""
    layer, head = scan.result.places[column]
    called = join_list(
        f"{translate_markdown(NAMED[kind].head)} ({Rounded(mean):.2f})"
        for kind, mean in head_survey.kinds_of_head(scan.result, column).items()
    )
    st.markdown(
        _("**{model}, layer {layer}, head {head}**: {called}").format(
            model=escape_markdown(scan.name), layer=layer, head=head, called=called or _("no name fits")
        )
    )
    measure = scan.result.measures.get(by)
    if measure is None:
        st.info(_("This has not been measured on these sentences yet."))
        return
    most = measure_sentence(scan, by)
    if column == strongest_head(scan.result, by):
        st.markdown(most)
        return
    mean = format_with_error(measure.mean[column], measure.stderr[column], 2, signed=by in head_survey.COSTS)
    st.markdown(join_sentences(_("{measure}: **{mean}**.").format(measure=measure_names()[by], mean=mean), most))


@fragment
def draw_examples(scan: DisplayedScan, by: str, column: int) -> None:
    """Draw a sentence with the head's attention: one from every tenth, or the visitor's own."""
    measure = scan.result.measures.get(by)
    best = [] if measure is None else [int(n) for n in measure.best[column] if n >= 0]
    layer, head = scan.result.places[column]
    named = {"0": _("Your sentence")}
    if measure is not None:
        named |= {str(n): f"{n}: {Rounded(measure.best_scores[column, n - 1]):.2f}" for n in range(1, len(best) + 1)}
        st.markdown(
            _("**A sentence from every tenth**, from most to least: {measure}").format(measure=measure_names()[by])
        )
    number = _select_example(named)
    left, right = st.columns([1, 1.3], gap="medium")
    with left:
        if number:
            text = scan.result.sentences[best[number - 1]]
            st.markdown(f"> {escape_markdown(text)}")
            _cite_book(scan, text)
        else:
            text = widgets.text_box(choices.SENTENCE, _("Sentence"))
            with show_problems():
                _draw_waking(scan, text, by, column, bool(best))
        if st.button(
            _("Open layer {layer}, head {head} on this sentence in the explorer").format(layer=layer, head=head),
            icon=":material/arrow_forward:",
            key="hd_explore",
            type="primary",
        ):
            page_parts.open_explorer(scan.model, text, (layer, head))
    with right, show_problems():
        _draw_example(scan, text, layer, head)


def _cite_book(scan: DisplayedScan, text: str) -> None:
    books = batches.books() if scan.config.text == "books" else ()
    for book in (novel for novel in books if any(passage.startswith(text) for passage in novel.passages)):
        st.caption(
            _("{author}, {title} ({year}), in the public domain.").format(
                author=escape_markdown(book.author), title=escape_markdown(book.title), year=book.year
            )
        )


def _draw_waking(scan: DisplayedScan, text: str, by: str, column: int, has_example: bool) -> None:
    """Say whether the head does on this sentence what it is called after, and offer one that wakes it."""
    pattern = by if by in head_survey.PATTERNS else head_survey.strongest_pattern(scan.result, column)
    run = model_cache.get_run(Request(scan.model, text))
    found = head_survey.explain_rows(run, scan.result.places[column], pattern)
    template = (
        _("**At work here**: “{pattern}” has half of the weight in {explained} of {rows} rows.")
        if found.explained
        else _(
            "**Asleep here**: “{pattern}” has half of the weight in none of {rows} rows; {first:.0%} rest on the first "
            "token."
        )
    )
    st.markdown(
        template.format(
            pattern=measure_names()[pattern], explained=found.explained, rows=found.rows, first=Rounded(found.first)
        )
    )
    if has_example and not found.explained:
        st.button(
            _("Show the sentence that wakes it most"),
            key="hd_wake",
            on_click=link_state.set_and_push,
            args=(choices.EXAMPLE, 1),
        )


def strongest_head(scan: head_survey.HeadScan, by: str) -> int:
    """Index of the head with the largest measure; by the first measure if this one is missing."""
    measure = scan.measures.get(by) or next(iter(scan.measures.values()))
    return int(np.nan_to_num(measure.mean, nan=-np.inf).argmax())


def _select_example(options: dict[str, str]) -> int:
    """Draw the choice of an example: its number, 0 for the visitor's own."""
    example = widgets.limit_choice(choices.EXAMPLE, len(options) - 1)
    picked = st.segmented_control(
        _("Example"),
        list(options),
        format_func=options.__getitem__,
        required=True,
        label_visibility="collapsed",
        **widget_values.bind_widget(
            "hd_example_pick", str(example), lambda number: link_state.set_and_push(choices.EXAMPLE, int(number or 0))
        ),
    )
    return int(picked if picked is not None else example)


def _draw_example(scan: DisplayedScan, text: str, layer: int, head: int) -> None:
    run = model_cache.get_run(Request(scan.model, text))
    head_drawing.draw(run, (layer, head), ("hd_example_head", "hd_example_out"), "hd_example")
