"""Lesson 9, where attention sits in a model: from a token to the next one."""

import math

import numpy as np

from attnviz.analysis.predictions import TokenChoice, prediction_slots, token_choices
from attnviz.base.rounding import format_number
from attnviz.base.words import N_
from attnviz.models.architecture import Architecture
from attnviz.pages.lessons.maths.cache_facts import MODEL, NAME, total_parameters
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    nearest_answer,
)
from attnviz.pages.why.maths import parts

OFFERED = 3


def chain(subject: Subject) -> Facts:
    layers = subject.layers
    return Facts({"n": len(subject.tokens), "layers": len(layers), "heads": layers[0].n_heads, "text": subject.text})


def residual(subject: Subject) -> Facts:
    tensors = subject.attend_by_hand().tensors
    difference = float(np.abs(tensors["X"] + tensors["output"] - tensors["residual"]).max())
    return Facts(
        {"word": subject.hand_words[-1], "difference": difference}, "added" if difference < 1e-6 else "replaced"
    )


def share(_subject: Subject) -> Facts:
    attention, everything = Architecture.preset(MODEL).attention_parameters(), total_parameters()
    return Facts(
        {"model": NAME, "share": attention / everything, "attention": attention / 1e9, "all": everything / 1e9},
        right=nearest_answer({"sixth": 1 / 6, "half": 1 / 2, "most": 9 / 10}, attention / everything),
    )


def likeliest_tokens(subject: Subject, n: int = 8) -> list[TokenChoice]:
    """The `n` likeliest next tokens of the trained model. Without one, raise a Problem."""
    run, loaded = subject.trained_run, subject.get_model()
    return token_choices(loaded, prediction_slots(run, loaded)[0], n)


def following(subject: Subject) -> Facts:
    """The likeliest next token, offered among the three likeliest in the order of the alphabet."""
    first, second, *_others = offered = likeliest_tokens(subject, OFFERED)
    return Facts(
        {"token": first.label, "share": first.probability, "second": second.label, "second_share": second.probability},
        right=str(first.token),
        answers=tuple((str(choice.token), choice.label) for choice in sorted(offered, key=lambda choice: choice.label)),
    )


def who_said(subject: Subject) -> Facts:
    """The head that adds most to the logit difference of the two likeliest tokens, and the word that it reads."""
    attribution: parts.Parts = subject.rerun(parts.run, parts.TokenQuestion())
    layer, head = attribution.strongest
    sources, name = attribution.sources[layer, head], subject.matrix().col_name
    order = [int(at) for at in np.argsort(-sources)]
    offered = sorted({order[0], order[-1], len(sources) - 1})
    token, second = attribution.targets
    return Facts(
        {
            "token": token.label,
            "second": second.label,
            "lead": attribution.total,
            "layer": layer,
            "head": head,
            "part": float(attribution.heads[layer, head]),
            "source": name(order[0]),
            "value": float(sources[order[0]]),
            "rest": float(attribution.heads[layer, head] - sources[order[0]]),
        },
        right=str(order[0]),
        answers=tuple((str(at), name(at)) for at in offered),
        also_right=tuple(
            str(at)
            for at in offered
            if at != order[0] and format_number(sources[at], ".2f") == format_number(sources[order[0]], ".2f")
        ),
    )


def surprise(subject: Subject) -> Facts:
    """What the model is paid for in training: the negative logarithm of the right token's probability."""
    first = likeliest_tokens(subject)[0]
    return Facts({"token": first.label, "share": first.probability, "loss": -math.log(max(first.probability, 1e-30))})


def loop(subject: Subject) -> Facts:
    first = likeliest_tokens(subject)[0]
    return Facts({"token": first.label, "longer": subject.text.rstrip() + first.text})


LESSON = Lesson(
    "model",
    N_("From token to next token"),
    (
        LessonStep(
            N_("Layer upon layer"),
            N_(
                "Now a text without its end: “{text}”. Its tokens, {n} in all, go through {layers} layers. Each has "
                "attention with {heads} heads, where tokens hear of each other, and a feed-forward part, where each is "
                "alone."
            ),
            LessonPicture("heads"),
            N_("Choose a head of the first layer, then one of the last."),
            chain,
            notes=Notes(N_("Attention moves, feed-forward computes. Then the same again, with other weights."), "", 4),
            terms=("layer", "head"),
            page="explore",
        ),
        LessonStep(
            N_("Each layer adds"),
            N_("“{word}” keeps its vector. What attention gives for it is added to the vector."),
            LessonPicture("board", {"step": "residual"}),
            N_("Choose a number and read its two parts."),
            residual,
            Question(
                N_("The output of attention and the token’s old vector: what becomes of them?"),
                N_(
                    "They are added, to within {difference:.1g}: a layer only writes into the stream. It can write the "
                    "negative of what is there, and so erase it."
                ),
                {"replaced": N_("the new one replaces the old"), "added": N_("they are added")},
            ),
            notes=Notes(N_("The residual stream is the road, layers are what drives up to it."), "", 3),
            terms=("layer",),
            page="build",
            page_choices={"b_step": "residual"},
        ),
        LessonStep(
            N_("How much of a model is attention?"),
            N_("{model} has {all:.2f} billion parameters."),
            LessonPicture("tokens"),
            N_("Compare the three: sharing keys and values makes attention’s part smaller still."),
            share,
            Question(
                N_("What share of them are W_Q, W_K, W_V and W_O?"),
                N_("{attention:.2f} of {all:.2f} billion, {share:.0%}. Most of the rest is feed-forward."),
                {"sixth": N_("about a sixth"), "half": N_("about half"), "most": N_("nine tenths")},
            ),
            LessonPicture("sharing"),
            Notes(N_("“Attention is all you need”: by weight it is the smaller part."), "", 3),
            ("multi_head",),
            "sharing",
            {"h_view": "count"},
        ),
        LessonStep(
            N_("The last token’s vector is a guess"),
            N_(
                "After the last layer the vector of the last token is compared with every token of the "
                "vocabulary. That "
                "gives a logit for each, and softmax makes probabilities of them."
            ),
            LessonPicture("tokens"),
            N_("Type another sentence without its end."),
            following,
            Question(
                N_("Which token does the model hold most likely now?"),
                N_("“{token}” with {share:.1%}, then “{second}” with {second_share:.1%}."),
            ),
            LessonPicture("next"),
            Notes(N_("The same softmax as in attention, over tens of thousands of tokens."), "", 4),
            ("logit", "next_token", "softmax"),
            "explore",
        ),
        LessonStep(
            N_("Who said so?"),
            N_(
                "A logit is a sum, to which every head and every feed-forward part adds. “{token}” leads “{second}” by "
                "{lead:.2f}."
            ),
            LessonPicture("tokens"),
            N_("Type another sentence without its end: which head is it then?"),
            who_said,
            Question(
                N_("One head adds most to that lead. Which word does it read?"),
                N_("Head {layer}.{head} adds {part:+.2f}: {value:+.2f} from “{source}”, {rest:+.2f} from all others."),
            ),
            LessonPicture("parts"),
            Notes(N_("Where a head looks is not yet why the model speaks: this is."), "", 4),
            ("logit", "attribution"),
            "why",
        ),
        LessonStep(
            N_("What training rewards"),
            N_(
                "If “{token}” is the right one, with {share:.0%}, the loss is −ln {share:.3g} ≈ {loss:.2f} "
                "nats. Training "
                "changes every W a little so that the loss falls: that is how heads learn where to look."
            ),
            LessonPicture("next"),
            N_("Find a sentence whose end the model is sure of."),
            surprise,
            notes=Notes(N_("Nobody labels attention. All of it comes from guessing the next token."), "", 4),
            terms=("nat", "logit"),
            page="explore",
        ),
        LessonStep(
            N_("And again"),
            N_("The token is put after the text, “{longer}”, and everything begins anew. That is a language model."),
            LessonPicture("player", {"decoder": "trained"}),
            N_("Play it."),
            loop,
            notes=Notes(N_("Close by opening Explore on a sentence from the room."), "", 3),
            terms=("decode", "kv_cache"),
            page="decoding",
        ),
    ),
    sentence="The capital of Italy is",
    summary=N_(
        "Layer after layer attention brings tokens what they need from others, until the last vector names the next "
        "token: “{token}”."
    ),
    page_links=(
        (N_("Find a head that looks back at a name, in a sentence of yours"), "explore", {}),
        (N_("Change one weight, and see which numbers follow"), "build", {"b_ask": "weights"}),
        (N_("Let a mask leak, and see training cheat"), "masks", {"m_view": "training", "m_leak": "2"}),
    ),
)
