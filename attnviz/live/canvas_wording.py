"""The sentences and colours that the canvases show: in the visitor's language, from one theme."""

from attnviz.base.head_edit import MASKS, SCOPES
from attnviz.base.words import _
from attnviz.figures.theme import HEADS, K_VERMILION, MASKED, Q_BLUE, SCORES, SCORES_ON_DARK, WEIGHTS


def scene_colours() -> dict[str, object]:
    """Colour stops and identity colours, as the figures have them; pairs are for a light and for a dark page."""
    scores = (SCORES, SCORES_ON_DARK)
    return {"weights": WEIGHTS, "scores": scores, "q": Q_BLUE, "k": K_VERMILION, "masked": MASKED, "heads": HEADS}


def default_unit(kind: str) -> str:
    """The name of a value when the caller gives none."""
    return {"weights": _("weight"), "values": _("value"), "diff": _("difference"), "scores": _("score")}[kind]


def joining_text() -> dict[str, str]:
    """How the language joins what the browser puts together: things, parts of a sentence, sentences.

    `join_heard` is for what ends without a full stop, as titles and read-outs do, before something else is heard.
    """
    return {
        "join_things": _("{first}, {next}"),
        "join_clauses": _("{first}; {next}"),
        "join_sentences": _("{first} {next}"),
        "join_heard": _("{first}. {next}"),
    }


def overview_text() -> dict[str, str]:
    """Sentences of the overview; {names} are filled in by the browser."""
    return {
        "label": _("All attention heads, one small picture each"),
        "help": _("Move with the arrow keys; Enter shows the chosen head large."),
        "summary": _(
            "{layers} {layers:layer|layers}, {heads} {heads:head|heads} in all. Rows of a picture are queries, "
            "columns are keys."
        ),
        "tile": _("Layer {layer}, head {head}"),
        "shared": _("Heads {heads} share one key/value head"),
        "chosen": _("on show"),
        "silenced": _("switched off"),
        "layer": _("layer"),
        "head": _("head"),
        "measured": _("{measure} {value}"),
        "hidden": _("masked"),
    } | joining_text()


def figure_text() -> dict[str, str]:
    """Words of a head in a file, and of the film of one of its queries."""
    return {
        "queries": _("Queries"),
        "keys": _("Keys"),
        "hidden": _("masked"),
        "legend_head": _("head {head}"),
        "others": _("others"),
        "new_vector": _("new vector of “{token}”"),
        "film": _("From words to a mixture"),
        "film_of": _("From words to a mixture · {head}"),
        "film_query": _("query"),
        "film_score": _("score"),
        "film_weight": _("weight"),
        "film_most": _("the {count} keys with the largest weights of {all}"),
        "film_words": _("“{token}” is the query; {count} {count:token is a key|tokens are keys}."),
        "film_scores": _("Scores q·k: the largest of “{token}” is {value}, with “{key}”."),
        "film_scaled": _("Scores times {factor}"),
        "film_masked": _("{masked} {masked:key|keys} masked"),
        "film_bias": _("a bias added"),
        "film_softcap": _("capped at {cap}"),
        "film_left": _("the largest left is {value}, with “{key}”."),
        "film_empty": _("“{token}” may look at no key: all its weights are 0."),
        "film_weights": _("Softmax makes weights of them that add up to {sum}; “{key}” has {value}."),
        "film_mixture": _("The new vector of “{token}” is a mixture of values: {parts}."),
        "film_part": _("{share} of “{key}”"),
        "film_others": _("{share} of {key}"),
        "film_sink": _("Softmax makes weights that add up to {sum}, the sink has the rest; “{key}” has {value}."),
    } | joining_text()


def guess_text() -> dict[str, str]:
    """Texts of the question where a token looks, and of its answer."""
    return {
        "guess": _("Guess: where does “{token}” look?"),
        "asked": _("Where does “{token}” look most? Touch the word that you expect."),
        "guess_alike": _("Until you do, all words are drawn alike."),
        "guess_show": _("Show me"),
        "guess_right": _("You guessed “{key}”, and you are right."),
        "guess_other": _("You guessed “{key}”: it gets {share}."),
        "guess_most": _("Most goes to “{key}”: {share}."),
        "guess_hidden": _("You guessed “{key}”, which the mask hides."),
    }


def head_text() -> dict[str, str]:
    """Sentences of the head view."""
    return {
        "label": _("Attention of one head: queries in rows, keys in columns"),
        "help": _(
            "Move from cell to cell with the arrow keys, and beyond the first ones to the names of rows and columns. "
            "Enter pins a token, Escape removes all pins, plus and minus zoom, 0 shows the whole picture."
        ),
        "gives": _("{query} → {key}: {value}"),
        "summary": _("Strongest pairs: {pairs}."),
        "masked": _("{query} may not look at {key}"),
        "most": _("{token} looks most at {keys}"),
        "most_alike": _("{token} looks at {keys}"),
        "mostby_alike": _("{token} is looked at by {queries}"),
        "mostby": _("{token} is looked at most by {queries}"),
        "most_changed": _("Largest differences in what {token} looks at: {keys}"),
        "mostby_changed": _("Largest differences in what looks at {token}: {queries}"),
        "share": _("{token} {value}"),
        "idle": _("Point at a token or a cell. A click pins it."),
        "pinned": _("{token} pinned"),
        "unpinned": _("{token} is no longer pinned"),
        "none": _("Nothing is pinned"),
        "sentence": _("The sentence: point at a token, click to pin it"),
        "queries": _("Queries"),
        "keys": _("Keys"),
        "lines": _("Token lines: queries on the left, keys on the right"),
        "strongest": _("the {count} strongest of {total} {total:line|lines}"),
        "zoomin": _("Zoom in"),
        "zoomout": _("Zoom out"),
        "zoomall": _("1:1: show the whole picture"),
        "maskoff": _("Mask off · {title}"),
        "change": _("After minus before · {title}"),
        "change_unit": _("difference"),
        "gives_more": _("The largest change: “{query}” gives “{key}” {value} more than before."),
        "gives_less": _("The largest change: “{query}” gives “{key}” {value} less than before."),
        "no_change": _("No weight changes by as much as 0.01."),
        "letgo": _("Remove all pins"),
        "wheel": _("Ctrl + wheel or pinch to zoom, drag to move"),
        "hidden": _("masked"),
        "looks": _("looks at"),
        "lookedat": _("is looked at by"),
        # the coloured squares, which lay lines of several heads over each other
        "squares": _("Heads in the lines"),
        "square_on": _("Add the lines of head {head} to these"),
        "square_off": _("Remove the lines of head {head}"),
        "square_lead": _("Head {head}, on show in the matrix"),
        "square_full": _("Head {head}: eight heads are drawn already, as many as colours can tell apart"),
        "only": _("Only the head on show"),
        "laid": _("Lines of head {head} added: {count} {count:head|heads} in the lines"),
        "taken": _("Lines of head {head} removed: {count} {count:head|heads} in the lines"),
        "legend_looks": _("“{token}” looks most at"),
        "legend_looked": _("“{token}” is looked at most by"),
        "legend_head": _("head {head}"),
    } | joining_text()


def edit_text() -> dict[str, str]:
    """Names and sentences of the controls of mask and scale, of each mask and of each place where a change is made."""
    masks = {f"mask{name}": _(mask.label) for name, mask in MASKS.items()}
    places = {f"where{scope}": _(name) for scope, (name, _caption) in SCOPES.items()}
    return {
        "most_changed": _("Largest changes in what {token} looks at: {keys}"),
        "mostby_changed": _("Largest changes in what looks at {token}: {queries}"),
        "idle": _("Point at a token or a cell. A click on a cell unfolds how it came about."),
        "mask": _("Mask"),
        "later_hidden": _("later tokens hidden"),
        "later": _("Hide what comes later: drag, or press, to lift the mask"),
        "earlier": _("How far back a token may look: drag"),
        "window": _("Width of the window"),
        "hide": _("Hide a token"),
        "hidden_tokens": _("Hidden: {tokens}"),
        "show_again": _("Show {token} again"),
        "nothing_hidden": _("hide…"),
        "paint": _("Paint"),
        "painting": _("Drag over the matrix: who may look at whom"),
        "paint_help": _("Paint the mask on the matrix"),
        "scale": _("Scale"),
        "scale_value": _("{factor} × the model's own, q·k × {number}, temperature {temperature}"),
        "scale_short": _("q·k × {number}, temperature {temperature}"),
        "mark_own": _("model's own"),
        "mark_none": _("no scaling"),
        "mark_inverse": _("1/d"),
        "before": _("Before"),
        "after": _("After"),
        "difference": _("Difference"),
        "hold": _("Hold down to compare with the model's own mask and scale"),
        "reset": _("Back to the model's own mask and scale"),
        "where": _("Change it in"),
        "silence": _("Switch off"),
        "silence_on": _("Switched off"),
        "silence_help": _("Replace the output of this head by zeros (ablate it); its weights stay as they are"),
        "weights_only": _("This layer gives only its weights: its mask and scale cannot be changed."),
        "find": _("Which heads do this?"),
        "find_hint": _("Paint cells, take a pattern, or drag the bars below the matrix: your own row."),
        "find_own": _("painted by you"),
        "find_previous": _("the word before"),
        "find_same": _("the same word, earlier"),
        "find_after": _("what came after it last time"),
        "find_first": _("the first word"),
        "find_itself": _("the word itself"),
        "find_next": _("the next word"),
        "find_clear": _("Start anew"),
        "find_head": _("{head} ({nats} nats)"),
        "find_show": _("Show layer {layer}, head {head}"),
        "find_rows": _("Nearest by {n} {n:row|rows} of this sentence."),
        "find_chance": _("{n} of 1,000 random patterns of the same shape have a head as near."),
        "sums": _("Sum"),
        "column_sum": _("{key} gets {value} from all rows together"),
    } | (masks | places | cell_text() | guess_text())


def cell_text() -> dict[str, str]:
    """Sentences on how the chosen cell came about."""
    return {
        "cell_title": _("How this weight came about"),
        "cell_close": _("Fold up"),
        "cell_why": _("Why there? →"),
        "cell_query": _("query of “{query}”"),
        "cell_key": _("key of “{key}”"),
        "cell_product": _("multiplied, number by number"),
        "cell_added": _("added up, then scaled"),
        "cell_bias": _("+ position bias"),
        "cell_softcap": _("soft-capped"),
        "cell_softmax": _("softmax shares 100% among {count} {count:key|keys}"),
        "cell_sink": _("softmax shares 100% among {count} {count:key|keys} and the sink"),
        "cell_first": _("Of a word of several tokens its first is told of."),
        "cell_sum": _(
            "q·k of “{query}” and “{key}” is {score}; times {factor} it is {scaled}; softmax makes {weight} of it."
        ),
        "cell_masked": _("q·k of “{query}” and “{key}” is {score}, but the mask hides it: its weight is 0."),
    }


def mask_text() -> dict[str, str]:
    """Sentences of the mask grid."""
    return {
        "label": _("Mask: queries in rows, keys in columns"),
        "help": _("Move with the arrow keys; Space switches a cell, Ctrl+Z undoes the last change."),
        "may": _("{query} may look at {key}"),
        "maynot": _("{query} may not look at {key}"),
        "summary": _("The mask keeps {kept} of {total} {total:pair|pairs}"),
        "empty": _("{query} may look at nothing"),
        "row": _("{query} may look at {count} of {total} {total:key|keys}"),
        "undo": _("Undo"),
        "redo": _("Redo"),
        "queries": _("Queries"),
        "keys": _("Keys"),
        "kept": _("may look"),
        "cut": _("may not look"),
        "new_word": _("new “{token}”"),
        "not_yet": _("hidden from “{token}”"),
        "sweeps": _("the mask, row by row"),
        "share": _("0 to 100% of its row"),
        "play": _("Play"),
        "climbs": _("Layers that light climbs"),
        "in_layers": _("{n} {n:layer|layers}"),
        "reached": _("In {n} {n:layer|layers} {count} of {total} words can reach “{token}”, whatever the weights are."),
        "reach_all": _("More layers can add nothing."),
        "reach_no_more": _("No others reach it, however many layers follow."),
        "reach_more": _("With {n} {n:layer|layers} it is {heard}, and more layers add nothing."),
        "reach_growing": _("After {n} {n:layer|layers} it is {heard}, and still growing."),
        "empty_row": _("“{token}” may look at nothing: its row is zero. A plain softmax would make it NaN."),
        "open_row": _("“{token}” may look at all {total} {total:word|words}: nothing is hidden from it."),
        "flows": _(
            "“{token}” may look at {count} of {total} words. Hidden ones had {taken} of its attention, which flows to "
            "what is left: “{key}” grows most, from {before} to {after}."
        ),
        "flows_alike": _(
            "“{token}” may look at {count} of {total} words. Hidden ones had {taken} of its attention, which flows to "
            "what is left: those that grow most go from {before} to {after}."
        ),
    } | joining_text()


def film_menu_text() -> dict[str, str]:
    """Texts of the controls that save a film."""
    return {
        "film": _("Film"),
        "still": _("Nothing moves in what is on show now."),
        "kind": _("Kind of file"),
        "shape": _("Shape"),
        "wide": _("wide, 16:9"),
        "square": _("square"),
        "from": _("From"),
        "to": _("To"),
        "save": _("Save the film"),
        "stop": _("Stop"),
        "working": _("Drawing…"),
        "done": _("Saved to your downloads."),
        "stopped": _("Stopped: nothing was saved."),
        "failed": _("The film could not be made:"),
        "no_kind": _("This browser encodes no video of this kind: take another."),
        "no_video": _("Browsers encode video only on pages that come by https: here a film is saved as GIF."),
    }
