"""The sentences that heads are looked at on: how long they are, and where they come from."""

import pytest

from attnviz.analysis.heads import batches
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.models.tokens import encode
from attnviz.pages.heads.maths import sentence_sets

MODELS = ("smollm2-135m", "minilm-l6")


@pytest.fixture(scope="module", params=MODELS)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return load(request.param)


def test_the_collection_is_eight_passages_of_eight_books_each_with_its_source() -> None:
    books = batches.books()
    assert len(books) == 8
    assert {len(book.passages) for book in books} == {8}
    assert all(1800 <= book.year <= 1900 and book.author and book.ebook for book in books)
    every = batches.passages()
    assert len(set(every)) == 64
    assert all(300 <= len(passage) <= 430 for passage in every)
    for passage, named in zip(every, [*books] * 8, strict=True):
        assert [book for book in books if any(whole.startswith(passage[:80]) for whole in book.passages)] == [named]


def test_passages_are_cut_at_a_token_and_fill_the_length(loaded: LoadedModel) -> None:
    for passage, cut in zip(batches.passages(), sentence_sets.make_sentences(loaded, "books", count=6), strict=False):
        assert passage.startswith(cut)
        whole, part = encode(loaded, passage), encode(loaded, cut)
        assert len(part) == 64
        inside = [span.id for span in part.spans if not span.special]
        assert inside == [span.id for span in whole.spans if not span.special][: len(inside)]


def test_a_text_of_ones_own_is_cut_into_lines_and_long_lines_into_parts(loaded: LoadedModel) -> None:
    long = "one two three four five six seven eight nine ten " * 4
    texts = sentence_sets.make_sentences(loaded, "own", f"first line\n\n{long}\nword\n", count=20, length=16)
    assert texts[0] == "first line"
    assert " ".join(texts[1:]) == long.strip(), "and a single word has nothing to look at"
    assert all(len(encode(loaded, text)) <= 16 for text in texts)
