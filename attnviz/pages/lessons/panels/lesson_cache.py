"""Lesson 7: what is kept while generating, and what MHA, GQA and MQA cost."""

from attnviz.base.words import N_
from attnviz.pages.lessons.maths import cache_facts as facts
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question

LESSON = Lesson(
    "cache",
    N_("What is kept while a model writes"),
    (
        LessonStep(
            N_("Writing goes token by token"),
            N_(
                "A model writes one token, puts it after the text, and reads again. To write {written} tokens "
                "after your "
                "{n}, reading everything anew each time, {anew} tokens pass through it."
            ),
            LessonPicture("player"),
            N_("Play the film, step by step: which row is new?"),
            facts.steps,
            notes=Notes(N_("With a cache it is {once}: each token passes once, {times:.0f} times fewer."), "", 4),
            terms=("next_token", "prefill", "decode"),
            page="decoding",
        ),
        LessonStep(
            N_("Old keys and values stay"),
            N_("A new word, “{last}”, arrives at the end. It needs the keys and values of all words before it."),
            LessonPicture("board", {"step": "project", "mask": "causal"}),
            N_("Predict, then take the last word away and compare K."),
            facts.unchanged,
            Question(
                N_("Do the keys and values of the earlier words change?"),
                N_(
                    "The largest difference is {difference:.1g}. Under a causal mask earlier words never hear of later "
                    "ones, so their keys and values can be kept: the KV cache."
                ),
                {"yes": N_("yes, a little"), "no": N_("no")},
            ),
            notes=Notes(
                N_("Queries are not kept: an old query asks nothing any more."), N_("They want to keep queries too."), 4
            ),
            terms=("kv_cache", "key", "value"),
            page="decoding",
        ),
        LessonStep(
            N_("How much that is"),
            N_(
                "{model} keeps a key and a value of {width} numbers in {kv_heads} heads of {layers} layers, 2 bytes "
                "each: {token} KiB for each token, {gib:.0f} GiB for {tokens:,} tokens."
            ),
            LessonPicture("growth"),
            N_("Move the slider to the length of a book chapter."),
            facts.bytes_held,
            notes=Notes(N_("2 × {kv_heads} × {width} × {layers} × 2 bytes. Let the room multiply it out."), "", 3),
            terms=("kv_cache",),
            page="decoding",
            seen={"d_view": "bytes"},
        ),
        LessonStep(
            N_("Share keys and values"),
            N_(
                "{heads} query heads need not have {heads} heads of keys and values. MHA: one each. GQA: several query "
                "heads share one. MQA: all share a single one."
            ),
            LessonPicture("tokens"),
            N_("Predict, then compare the three drawings."),
            facts.three,
            Question(
                N_("GQA with 8 K/V heads instead of {heads}: how much of the cache is left?"),
                N_("For {tokens:,} tokens of {model}: MHA {mha:,} MiB, GQA {gqa:,} MiB, MQA {mqa:,} MiB."),
                {"half": N_("one half"), "quarter": N_("one quarter"), "eighth": N_("one eighth")},
            ),
            LessonPicture("sharing"),
            Notes(
                N_("Queries stay {heads}: each still looks in its own way, in fewer sets of keys."),
                N_("They think GQA has fewer heads. It has fewer K/V heads."),
                4,
            ),
            ("mha", "gqa", "mqa"),
            "sharing",
        ),
        LessonStep(
            N_("What it is for"),
            N_(
                "In the {gib} GiB of an {gpu}, beside the weights of {model} in 16 bit, there is room for {mha} texts "
                "of {tokens:,} tokens with MHA, {gqa} with GQA and {mqa:,} with MQA."
            ),
            LessonPicture("sharing"),
            N_("Say which of the three you would choose, and what you would want to know first."),
            facts.room,
            notes=Notes(
                N_("Sharing is paid in quality: MQA loses most, GQA little. Share heads quotes the paper’s table."),
                "",
                4,
            ),
            terms=("gqa", "kv_cache"),
            page="sharing",
            seen={"h_view": "size"},
        ),
    ),
)
