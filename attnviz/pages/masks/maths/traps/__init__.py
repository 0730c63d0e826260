"""Mistakes around masks that shape tests seldom find: wrong and right code of each, and what both give.

The modules beside this one hold the code; the page shows its source.
"""

from attnviz.analysis.traps import TOP_LEFT, Trap
from attnviz.base.message import Message
from attnviz.pages.masks.maths.traps import fills, heads, layers, places

_ALL = (
    Trap(
        "fill",
        Message("-1e9, -inf, or the lowest number"),
        Message(
            "A hidden cell should weigh exactly nothing. A large negative number does that until a whole row is hidden "
            "or the dtype is too narrow for it; -inf does it until a row is all -inf, and then 0/0 is NaN."
        ),
        (fills.fill_with_billion, fills.add_minimum_twice, fills.fill_with_infinity),
        (fills.zero_empty_rows,),
        fills.run_fill,
    ),
    Trap(
        "meaning",
        Message("True: attend here, hide there"),
        Message(
            "F.scaled_dot_product_attention and FlexAttention attend where a boolean mask is True. "
            "nn.MultiheadAttention hides where it is True, in attn_mask and in key_padding_mask. Both accept either "
            "mask: no shape ever complains."
        ),
        (layers.wrong_meaning,),
        (layers.right_meaning,),
        layers.run_meaning,
    ),
    Trap(
        "before_scaling",
        Message("The mask added before scaling"),
        Message(
            "A mask of numbers is added to the scaled scores. Added first, it is divided by sqrt(D) with them: "
            "harmless for -inf and for a fill so large that a part of it still hides, as -1e9; wrong for small fills "
            "and for position biases."
        ),
        (fills.wrong_before_scaling,),
        (fills.right_before_scaling,),
        fills.run_before_scaling,
    ),
    Trap(
        "softmax_first",
        Message("Softmax before masking"),
        Message(
            "Zeroing weights after the softmax hides a word's value and keeps its vote: it was counted in the "
            "denominator, so rows sum to less than 1 and depend on what they may not see."
        ),
        (fills.wrong_softmax_first,),
        (fills.right_softmax_first,),
        fills.run_softmax_first,
    ),
    TOP_LEFT,
    Trap(
        "left_padding",
        Message("Padding on the left, positions not shifted"),
        Message(
            "Masking the padding is half of it: a model with absolute positions (learned or sinusoidal) must also "
            "start to count at the first word, or the same sentence means something else in every batch."
        ),
        (places.wrong_left_padding,),
        (places.right_left_padding,),
        places.run_left_padding,
    ),
    Trap(
        "floor_division",
        Message("// where / was meant"),
        Message(
            "One more slash rounds every score down to a whole number. Shapes, dtype and row sums stay right. PyTorch "
            "refuses to differentiate it, so it lives on in code that never trains: inference, evaluation, NumPy."
        ),
        (layers.wrong_floor_division,),
        (layers.right_floor_division,),
        layers.run_floor_division,
    ),
    Trap(
        "unused_projections",
        Message("Projections built, never applied"),
        Message(
            "The module has its three matrices, the parameter count is right, the shapes are right, and x attends to "
            "x. Test that every parameter gets a gradient, not that shapes agree."
        ),
        (layers.WrongUnusedProjections,),
        (layers.RightUnusedProjections,),
        layers.run_unused_projections,
    ),
    Trap(
        "ignored_mask",
        Message("A mask accepted and ignored"),
        Message(
            "masked_fill without the underscore returns a new tensor. The argument is accepted, nothing fails, and the "
            "model reads the future. The same happens to a keyword that a function swallows with **kwargs. Test that "
            "changing a hidden word changes nothing."
        ),
        (fills.wrong_ignored_mask,),
        (fills.right_ignored_mask,),
        fills.run_ignored_mask,
    ),
    Trap(
        "head_slices",
        Message("Head slices that overlap"),
        Message(
            "i:(i+1)*d starts one coordinate further for each head instead of d. Queries and keys are wrong alike, so "
            "the scores have the right shape, and the heads share most of what they read."
        ),
        (heads.wrong_head_slices,),
        (heads.right_head_slices,),
        heads.run_head_slices,
    ),
    Trap(
        "linear_weight",
        Message("nn.Linear's weight is (out, in)"),
        Message(
            "nn.Linear computes x @ weight.T. Papers write x W, and code that carries W over from a paper, from NumPy "
            "or from GPT-2's Conv1D, which keeps (in, out), is transposed without any error when the matrix is square."
        ),
        (layers.wrong_linear_weight,),
        (layers.right_linear_weight,),
        layers.run_linear_weight,
    ),
    Trap(
        "dropout_in_eval",
        Message("Dropout still on in evaluation"),
        Message(
            "model.eval() switches modules, not numbers: dropout_p of F.scaled_dot_product_attention acts whenever it "
            "is not 0, and F.dropout(x, p) has training=True by default."
        ),
        (layers.WrongDropoutInEval,),
        (layers.RightDropoutInEval,),
        layers.run_dropout_in_eval,
    ),
    Trap(
        "integer_positions",
        Message("Sinusoids cast back to integers"),
        Message(
            "Positions come from arange and are integers. Casting the encoding to the positions' dtype, not to that "
            "of x, cuts sines and cosines down to 0: adding it changes no shape and raises nothing, and the model has "
            "no places."
        ),
        (places.wrong_integer_positions,),
        (places.right_integer_positions,),
        places.run_integer_positions,
    ),
    Trap(
        "query_heads_of_keys",
        Message("MQA with a key for each query head"),
        Message(
            "Multi-query attention has one head of keys and values, so their projections are one head wide. Where "
            "they are left as wide as the queries', a view with -1 makes T x H keys of T words, and the sum over keys "
            "hides it."
        ),
        (heads.wrong_query_heads_of_keys,),
        (heads.right_query_heads_of_keys,),
        heads.run_query_heads_of_keys,
    ),
    Trap(
        "expanded_heads",
        Message("expand, or repeat, for groups of heads"),
        Message(
            "In grouped-query attention a few K/V heads serve groups of query heads. expand only stretches a "
            "dimension of size 1, so it fails here; repeat, the cure that comes to mind, repeats the list of heads "
            "and not each head."
        ),
        (heads.wrong_expanded_heads, heads.quick_cure),
        (heads.right_expanded_heads,),
        heads.run_expanded_heads,
    ),
    Trap(
        "group_num",
        Message("A number of groups that is not handed on"),
        Message(
            "A class for grouped-query attention takes the number of K/V heads, and must give it to the class that it "
            "is built on. Forgotten, the default stands: GQA is MHA, or MQA, and says so nowhere."
        ),
        (heads.SharedKeyAttention, heads.WrongGroupedQueryAttention),
        (heads.SharedKeyAttention, heads.RightGroupedQueryAttention),
        heads.run_group_num,
    ),
    Trap(
        "query_length",
        Message("Keys viewed with the queries' length"),
        Message(
            "One variable for the length, taken from x, and used to cut q, k and v into heads. Keys and values have a "
            "length of their own as soon as they come from another sequence or from a cache."
        ),
        (heads.wrong_query_length,),
        (heads.right_query_length,),
        heads.run_query_length,
    ),
    Trap(
        "odd_axes",
        Message("RoPE in three axes, 31 of 32 pairs"),
        Message(
            "For video, RoPE gives time, row and column a share of a head's coordinates each, and turns them in "
            "pairs. A third of 64 is no even number: divide the pairs among the axes, not the coordinates."
        ),
        (places.rotate_axis, places.wrong_odd_axes),
        (places.rotate_axis, places.right_odd_axes),
        places.run_odd_axes,
    ),
    Trap(
        "cropped_mask",
        Message("The longest mask, cropped at the wrong corner"),
        Message(
            "A model keeps one causal mask for its longest text and cuts out what it needs. [..., :q, :k] cuts at the "
            "top left; queries that continue a cache stand at the end of the keys, and need the rows from k - q to k."
        ),
        (places.wrong_cropped_mask,),
        (places.right_cropped_mask,),
        places.run_cropped_mask,
    ),
    Trap(
        "transposed_padding",
        Message("A padding mask transposed with its batch"),
        Message(
            "nn.TransformerEncoderLayer takes x as (T, B, M) unless batch_first is set. Its src_key_padding_mask is "
            "(B, T) either way. Transposed along with x it fits only a batch of as many sentences as places, and "
            "there it hides other words."
        ),
        (layers.wrong_transposed_padding,),
        (layers.right_transposed_padding,),
        layers.run_transposed_padding,
    ),
)
TRAPS: dict[str, Trap] = {trap.id: trap for trap in _ALL}
