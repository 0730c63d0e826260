"""`attnviz figure` refuses a link that asks for what is not there, in the page's own sentence, and writes no file."""

import pytest

from attnviz.command.command_line import main

#: a link, and the sentence on the terminal
WRONG = {
    "scaling?s_dk=99999999": "The link asks for “d_k” = “99999999”; it must be a whole number from 1 to 4,096. “64” is "
    "shown instead.",
    "scaling?s_nothing=3": "Left out of the link, because this page has nothing by that name: “s_nothing”.",
    "explore?at=99.99": "There is no layer 99 head 99 here: layers go from 0 to 29. Layer 29 head 8 is shown.",
    "explore?model=nope": "“nope” does not exist here (“Model” in the link). “SmolLM2 135M Instruct (4-bit)” is shown "
    "instead.",
    "explore?factor=-3": "The link asks for “Scale × the model’s” = “-3”; it must be a number from",
    "explore?c=xx": "The part of this link that holds the picture cannot be read; it was cut or changed.",
    "heads?hd_at=99.1&hd_model=minilm-l6": "MiniLM L6 has no head 99.1;",
    "compare?c_n=<b>": "The link asks for “tokens n” = “<b>”; it must be a whole number from 1 to 1,048,576.",
    "compare?c_count=guessed": "The link asks for “Counted” = “guessed”; it must be one of: “built”, “table”.",
    "decoding?d_model=core&d_steps=2&d_layer=99": "The link asks for “Layer, from 0” = “99”; here it goes up to 3, "
    "which is shown instead.",
    "sharing?h_model=gpt-9": "The link asks for “Model” = “gpt-9”; it must be one of: ",
    "sharing?h_context=0": "The link asks for “Tokens of context” = “0”; it must be a whole number from",
    "decoding?d_model=core&d_steps=2&d_at=999": "The link asks for “Step on show, from 0” = “999”; it must be a whole "
    "number from 0 to",
    "masks?m_seed=-1": "The link asks for “Seed” = “-1”; it must be a whole number from 0 to 9,999.",
}
CSV = {"compare", "decoding", "scaling", "heads", "sharing"}


@pytest.mark.parametrize("link", WRONG)
def test_a_wrong_value_is_refused_in_the_pages_sentence_unless_the_caller_is_lenient(link, tmp_path, capsys):
    file = tmp_path / ("figure.csv" if link.partition("?")[0] in CSV else "figure.svg")
    assert main(["figure", link, "-o", str(file)]) == 2
    said = capsys.readouterr()
    sentence, nothing = said.err.splitlines()
    assert sentence.startswith(WRONG[link])
    assert nothing.startswith("Nothing is written"), "the sentence before says what the page shows"
    assert not file.exists()
    assert main(["figure", link, "-o", str(file), "--lenient"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == sentence
    assert file.stat().st_size > 100
