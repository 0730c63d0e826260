"""Turn a sentence into the token ids a model takes, and each token into text that a person can read."""

from attnviz.models.tokens.encoding import (
    Frame,
    Tokens,
    encode,
    encode_target,
    encode_whole,
    label_of,
    model_inputs,
    read,
    supported_frames,
)
from attnviz.models.tokens.matrix_axes import MatrixAxis, matrix_axis, project_weights
from attnviz.models.tokens.token_spans import TokenSpan, token_id, token_label

__all__ = [
    "Frame",
    "MatrixAxis",
    "TokenSpan",
    "Tokens",
    "encode",
    "encode_target",
    "encode_whole",
    "label_of",
    "matrix_axis",
    "model_inputs",
    "project_weights",
    "read",
    "supported_frames",
    "token_id",
    "token_label",
]
