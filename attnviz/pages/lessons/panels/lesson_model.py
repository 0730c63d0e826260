"""Lesson 8: where it all sits in a model, from token to next token."""

from attnviz.base.words import N_
from attnviz.pages.lessons.maths import model_facts as facts
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question

LESSON = Lesson(
    "model",
    N_("From token to next token"),
    (
        LessonStep(
            N_("Layer upon layer"),
            N_(
                "{n} tokens go through {layers} layers. Each has attention with {heads} heads, where tokens "
                "hear of each "
                "other, and a feed-forward part, where each token thinks alone."
            ),
            LessonPicture("heads"),
            N_("Choose a head of the first layer, then one of the last."),
            facts.chain,
            notes=Notes(N_("Attention moves, feed-forward computes. Then the same again, with other weights."), "", 4),
            terms=("layer", "head"),
            page="explore",
        ),
        LessonStep(
            N_("Each layer adds"),
            N_("“{word}” keeps its vector. What attention gives for it is added to the vector."),
            LessonPicture("board", {"step": "residual"}),
            N_("Choose a number and read its two parts."),
            facts.residual,
            Question(
                N_("The output of attention and the token’s old vector: what becomes of them?"),
                N_("They are added, to within {difference:.1g}: nothing is lost, a layer only writes into the stream."),
                {"replaced": N_("the new one replaces the old"), "added": N_("they are added")},
            ),
            notes=Notes(N_("The residual stream is the road, layers are what drives up to it."), "", 3),
            terms=("layer",),
            page="build",
            seen={"b_step": "residual"},
        ),
        LessonStep(
            N_("How much of a model is attention?"),
            N_("{model} has {all:.2f} billion parameters."),
            LessonPicture("tokens"),
            N_("Predict before you look."),
            facts.share,
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
            N_("Predict what comes next, then type a sentence that ends in the middle."),
            facts.following,
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
            N_("What training rewards"),
            N_(
                "If “{token}” is the right one, with {share:.0%}, the loss is −ln {share:.3f} = {loss:.2f} "
                "nats. Training "
                "changes every W a little so that the loss falls: that is how heads learn where to look."
            ),
            LessonPicture("next"),
            N_("Find a sentence whose end the model is sure of."),
            facts.surprise,
            notes=Notes(N_("Nobody labels attention. All of it comes from guessing the next token."), "", 4),
            terms=("nat", "logit"),
            page="explore",
        ),
        LessonStep(
            N_("And again"),
            N_("The token is put after the text, “{longer}”, and everything begins anew. That is a language model."),
            LessonPicture("player", {"decoder": "trained"}),
            N_("Play it, then go back to any lesson with a sentence of your own."),
            facts.loop,
            notes=Notes(N_("Close by opening Explore on a sentence from the room."), "", 3),
            terms=("decode", "kv_cache"),
            page="decoding",
        ),
    ),
)
