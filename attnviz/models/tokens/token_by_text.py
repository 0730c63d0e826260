"""A token of a vocabulary by its text."""

from typing import Any

from attnviz.base.message import Problem, Several
from attnviz.models.tokens.token_spans import speller, token_label


def token_id(tokenizer: Any, text: Any) -> Any:
    """The id of the one token that spells `text`: a word as it stands after a space, where the vocabulary has that.

    What is no text, such as an id, is answered as it is.
    """
    if not isinstance(text, str):
        return text
    if tokenizer is None:
        raise Problem("token={text} needs a tokenizer: give tokenizer=, or a token id", text=text)
    spaced = [f" {text}"] if text[:1].isalnum() else []
    found = [tokenizer(each, add_special_tokens=False)["input_ids"] for each in (*spaced, text)]
    for ids in found:
        if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
            return int(ids[0])
    pieces = tokenizer.convert_ids_to_tokens(found[0])
    spell = speller(tokenizer)
    raise Problem(
        "token={text} is not one token: the vocabulary spells it {pieces}; give one of them, or a token id",
        text=text,
        pieces=Several([token_label(spell(each).decode("utf-8", "replace")) for each in pieces]),
    )
