"""Section 1: the words of a real head on a dial, turned by their places, dragged along the sentence by hand."""

from collections.abc import Sequence
from functools import partial

from attnviz.analysis.model_run import Request
from attnviz.app import guess, page_parts, sentence_input, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import quote_word
from attnviz.base.words import _, join_sentences
from attnviz.canvas.word_dial import DialFigure, DialState, word_dial
from attnviz.engine import Rerun
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.loading import availabilities
from attnviz.pages.positions import choices
from attnviz.pages.positions.maths import turning_words as experiment


def panel() -> None:
    picture_area = page_parts.main_picture()
    with page_parts.paired_columns("positions"):
        text = widgets.text_box(choices.SENTENCE, _("Sentence"))
        with page_parts.more_menu():
            layer = widgets.number_box(choices.LAYER, _("Layer, from 0"), step=1)
            head = widgets.number_box(choices.HEAD, _("Head, from 0"), step=1)
    with picture_area:
        found = find_head(text, layer, head)
        row = widgets.limit_choice(choices.ROW, len(found.words) - 1)
        pair = widgets.limit_choice(choices.PAIR, len(found.turns) - 1)
        figure = make_figure(found, link_state.value(choices.TURNED), _word_order(len(found.words)), row, pair)
        word_dial("p_dial", figure, on_turn=store_state)
        _ask(found, figure.state)
        show.footer(
            SceneFigure((figure,), film=figure),
            name="words-on-a-dial",
            key="p_dial_save",
            canvas=show.live_canvas("p_dial"),
            sentence=_(
                "Layer {layer}, head {head} of SmolLM2-135M, trained. Queries and keys stay those of the sentence as "
                "typed; only their places change."
            ).format(layer=layer, head=head),
            table=lambda: found.table(figure.state.order, figure.state.row, figure.state.turned / 100),
        )
    show.program(partial(experiment.program, text, layer, head, list(figure.state.order), figure.state.row), "p-dial")


def find_head(text: str, layer: int, head: int) -> experiment.TurningWords:
    """The head's queries and keys: of the example as they are shipped, of others from the model."""
    if (text.strip(), layer, head) == experiment.PREPARED:
        return experiment.read_prepared()
    here = any(state.on_this_machine for state in availabilities() if state.entry.id == experiment.MODEL)
    sentence_input.require_model(here)
    run = model_cache.get_run(Request(experiment.MODEL, text))
    found: experiment.TurningWords = model_cache.rerun_cached(run, Rerun(experiment.record, (layer, head)))
    return found


def _word_order(n: int) -> list[int]:
    """Which of `n` words stands at each place: as the link says, else as typed, and a line says so."""
    asked, typed = link_state.value(choices.WORD_ORDER), list(range(n))
    order = [int(word) for word in asked.split(".") if word.isdecimal()]
    if asked and sorted(order) != typed:
        link_state.refuse(choices.WORD_ORDER, asked, ".".join(map(str, typed)))
        order = typed
    widgets.show_refusal(choices.WORD_ORDER)
    return order or typed


def _ask(found: experiment.TurningWords, state: DialState) -> None:
    """Ask where the word looks when two others change places; the answer lets them.

    Not where it would look at two words alike, nor while words stand elsewhere: the answer may be on show.
    """
    share, row, typed = state.turned / 100, state.row, tuple(range(len(found.words)))
    exchange = found.exchange_before(row)
    if exchange is None or (right := found.find_most(row, exchange, share)) is None:
        return
    if state.order != typed and guess.asked_about(choices.GUESS) != str(row):
        return
    moved, before, query = (quote_word(found.words[word]) for word in (exchange.moved, exchange.before, row))
    weights, as_typed = (found.weights(order, share)[row].tolist() for order in (exchange.order, typed))
    most = max(range(len(weights)), key=weights.__getitem__)
    because = _(
        "With {moved} and {before} exchanged, {query} gives {moved} {new:.0%} of its weight and {before} {left:.0%}; "
        "as typed it gives {before} {old:.0%}."
    ).format(
        moved=moved,
        before=before,
        query=query,
        new=weights[exchange.moved],
        left=weights[exchange.before],
        old=as_typed[exchange.before],
    )
    if right in ("own", "other"):
        other = _("Most goes to {key}: {share:.0%}.").format(key=quote_word(found.words[most]), share=weights[most])
        because = join_sentences(because, other)
    guess.ask(
        choices.GUESS,
        _("{moved} and {before} change places. Where does {query} look most?").format(
            moved=moved, before=before, query=query
        ),
        {"moved": moved, "before": before, "own": _("at itself"), "other": _("at another word")},
        lambda: (right, because),
        about=str(row),
        shows=lambda answered: {
            choices.WORD_ORDER: ".".join(map(str, exchange.order)) if answered else choices.WORD_ORDER.default
        },
    )


def make_figure(found: experiment.TurningWords, turned: int, order: Sequence[int], row: int, pair: int) -> DialFigure:
    """The picture in the nearest state that these words have."""
    n = len(found.words)
    places = tuple(order) if sorted(order) == [*range(n)] else tuple(range(n))
    state = DialState(turned, places, min(row, n - 1), min(pair, len(found.turns) - 1))
    return DialFigure(state, found.words, found.turns, found.q, found.k, found.scale)


def store_state(state: DialState) -> None:
    order = ".".join(map(str, state.order)) if sorted(state.order) != [*state.order] else choices.WORD_ORDER.default
    link_state.set_many(
        {choices.TURNED: state.turned, choices.ROW: state.row, choices.PAIR: state.pair, choices.WORD_ORDER: order}
    )
