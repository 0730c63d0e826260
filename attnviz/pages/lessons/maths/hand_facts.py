"""Facts of small random vectors and of masks: attention over the words worked out by hand, in another order."""

import numpy as np
import torch

from attnviz.base.message import Message, MessageList
from attnviz.base.words import N_
from attnviz.core import masks
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.positions import ALiBi
from attnviz.pages.lessons.maths.lesson_parts import WIDTH, Facts, Subject, fact, nearest_answers, require_two
from attnviz.pages.positions.maths import shuffled_words, turning_words
from attnviz.pages.scaling.maths import saturation, variance

USUAL, WIDE = 64, 512  #: d_k
MODEL_WIDTH, EIGHT = 512, 8
QUERY, KEY = 8, 7  #: words of the head on a dial
NEAR, FAR = 1, 5


@fact()
def causal_mask(subject: Subject) -> Facts:
    """How many scores of the first words a causal mask keeps."""
    first_words, n = subject.first_words, len(subject.first_words)
    counted, offered = int(masks.causal(n, n).sum()), {"half": n * n / 2, "triangle": n * (n + 1) // 2, "line": n}
    terms = " + ".join(map(str, range(1, n + 1))) if n < 4 else f"1 + 2 + … + {n}"
    values = {"n": n, "all": n * n, "first": first_words[0], "last": first_words[-1], "kept": counted, "terms": terms}
    return Facts(values | offered, nearest_answers(offered, counted))


@fact()
def later_words(subject: Subject) -> Facts:
    """Largest change of the earlier words' outputs when the last word is removed, with and without a mask."""
    words = subject.hand_words
    require_two(words)
    causal, free = (
        float(np.abs(_output(subject, words, mask)[:-1] - _output(subject, words[:-1], mask)).max())
        for mask in ("causal", "none")
    )
    return Facts({"last": words[-1], "causal": causal, "open": free}, ("no" if causal < 1e-5 else "yes",))


def _output(subject: Subject, words: tuple[str, ...], mask: str) -> np.ndarray:
    return subject.attend_by_hand(words, mask=mask).tensors["output"][0]  # type: ignore[arg-type]


@fact()
def examples(subject: Subject) -> Facts:
    """Each word but the last is asked for the next one, all in one pass."""
    require_two(subject.first_words)
    first_words, count = subject.first_words, len(subject.first_words) - 1
    pairs = [f"{' '.join(first_words[: i + 1])} → {first_words[i + 1]}" for i in range(min(3, count))]
    values = {"n": len(first_words), "count": count, "shown": MessageList(tuple(pairs))}
    return Facts(values, nearest_answers({"all": count, "one": 1}, count))


@fact()
def too_late(subject: Subject) -> Facts:
    """Weights set to 0 after softmax, instead of scores to minus infinity before it."""
    require_two(subject.hand_words)
    after, before = (subject.attend_by_hand(mask=mask).tensors["weights"][0, 0, 0] for mask in ("none", "causal"))
    left = float(after[0])  # the first word may see itself alone
    values = {"word": subject.hand_words[0], "left": left, "proper": float(before.sum())}
    return Facts(values, ("less" if left < 1 - 1e-6 else "one",))


@fact()
def joined(subject: Subject) -> Facts:
    """W_O over the joined heads is the sum of each head through its own rows of W_O."""
    result, width = subject.attend_by_hand(heads=2), WIDTH // 2
    added = sum(result.tensors["heads"][0][h] @ result.weights["W_O"][h * width : (h + 1) * width] for h in range(2))
    difference = float(np.abs(added - result.tensors["output"][0]).max())
    return Facts({"difference": difference, "heads": 2}, ("added" if difference < 1e-5 else "other",))


@fact()
def residual(subject: Subject) -> Facts:
    """What attention gives is added to the vector."""
    tensors = subject.attend_by_hand().tensors
    difference = float(np.abs(tensors["X"] + tensors["output"] - tensors["residual"]).max())
    values = {"word": subject.hand_words[-1], "difference": difference}
    return Facts(values, ("added" if difference < 1e-6 else "replaced",))


@fact()
def cost(_subject: Subject) -> Facts:
    """Parameters of a layer with one wide head, and with eight narrow ones."""
    layers = (Attention(HeadLayout(MODEL_WIDTH, heads)) for heads in (1, EIGHT))
    one, eight = (sum(p.numel() for p in layer.parameters()) for layer in layers)
    values = {"width": MODEL_WIDTH, "one": one, "eight": eight, "heads": EIGHT, "each": MODEL_WIDTH // EIGHT}
    return Facts(values, ("same" if one == eight else "more" if eight > one else "less",))


@fact()
def spread(_subject: Subject) -> Facts:
    """How large a dot product of random q and k typically is: the root of its measured variance."""
    measured = variance.first_result(variance.Config(d_k=USUAL))
    typical, scaled = measured.raw.variance**0.5, measured.scaled.variance**0.5
    sizes = {"one": 0.0, "root": np.log(USUAL) / 2, "all": np.log(USUAL)}
    values = {"d_k": USUAL, "root": USUAL**0.5, "typical": typical, "scaled": scaled, "pairs": measured.pairs}
    return Facts(values, nearest_answers(sizes, np.log(typical)))


@fact()
def gradient(_subject: Subject) -> Facts:
    """Median norm of softmax's Jacobian, raw and scaled: how much of a change in scores gets through."""
    both = [saturation.run(saturation.Config(alternative=alternative)) for alternative in ("raw", "sqrt")]
    raw, scaled = (float(m.bands["jacobian"].middle[saturation.nearest_on_grid(WIDE)]) for m in both)
    values = {"d_k": WIDE, "raw": raw, "scaled": scaled, "times": scaled / raw}
    return Facts(values, ("less" if raw < scaled else "more" if raw > scaled else "same",))


def reverse_sentence(subject: Subject, kind: str, causal: bool = False) -> shuffled_words.Result:
    """Run attention over the sentence and over its reverse."""
    return shuffled_words.run(shuffled_words.Config(subject.first_words, kind, "reverse", causal))


@fact()
def bag(subject: Subject) -> Facts:
    """How far outputs change when the sentence is read backwards, without positions."""
    result = reverse_sentence(subject, "none")
    values = {"change": result.change, "backwards": " ".join(result.words)}
    return Facts(values, ("same" if result.is_unchanged else "different",))


@fact()
def added(subject: Subject) -> Facts:
    """How far outputs change when the sentence is read backwards, with sinusoidal positions."""
    result = reverse_sentence(subject, "sinusoidal")
    word = subject.first_words[int(result.output_change.argmax())]
    values = {"change": result.change, "word": word, "largest": result.largest}
    return Facts(values, ("same" if result.is_unchanged else "different",))


@fact()
def by_mask(subject: Subject) -> Facts:
    """How far outputs change when it is read backwards without positions, with and without a causal mask."""
    free, causal = reverse_sentence(subject, "none").every["none"]
    differs = causal > 1e-9
    template = (
        N_("Outputs change by up to {causal:.2g}. A word sees those before it: where they differ, an order.")
        if differs
        else N_("Outputs change by {causal:.1g}: these words are all alike, so that any order is the same.")
    )
    values = {"free": free, "causal": causal, "says": Message(template, {"causal": causal})}
    return Facts(values, ("yes" if differs else "no",))


@fact()
def turned(_subject: Subject) -> Facts:
    """A real query and key both move on by one place, or the query alone: their q·k."""
    found, words = turning_words.read_prepared(), [*range(13)]
    both, alone = [*words[-1:], *words[:-1]], [*words[:QUERY], QUERY + 1, QUERY, *words[QUERY + 2 :]]
    before, after, apart = (float(found.scores(order)[QUERY, KEY]) for order in (words, both, alone))
    values = {"query": found.words[QUERY], "key": found.words[KEY], "q_at": QUERY + 1, "k_at": KEY + 1}
    values |= {"step": 1, "before": before, "after": after, "apart": apart, "difference": abs(after - before)}
    return Facts(values, ("same" if abs(after - before) < 1e-6 else "different",))


@fact()
def taken_off(_subject: Subject) -> Facts:
    """ALiBi's penalty on a near key and on a far one, in the first of four heads."""
    places = torch.arange(FAR + 1)
    bias = ALiBi(4).bias(places, places)
    assert bias is not None
    near, far = (-float(bias[0, FAR, FAR - distance]) for distance in (NEAR, FAR))
    values = {"near": near, "far": far, "near_at": NEAR, "far_at": FAR}
    return Facts(values, ("far" if far > near else "near" if near > far else "same",))
