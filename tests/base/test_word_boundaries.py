import pytest

from attnviz.base.word_boundaries import split, words_of


@pytest.mark.parametrize(
    "text, words",
    [
        ("ฉันรัก cats", ["ฉั", "น", "รั", "ก", "cats"]),  # a vowel mark stays on its consonant
        ("か\u3099x", ["か\u3099", "x"]),
        ("don't stop!", ["don't", "stop!"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
    ],
)
def test_scripts_without_spaces_are_split_by_character_with_their_marks(text, words):
    assert list(split(text)) == words


@pytest.mark.parametrize("text", ["我喜欢猫 and dogs", "ฉันรัก cats", "ねこ sat", "plain words only"])
def test_where_no_punctuation_stands_both_ways_of_splitting_agree(text):
    numbers = words_of(text)
    assert max(numbers) + 1 == len(split(text))


def test_no_character_is_lost():
    text = "x東 ,y\u0301 ก็ 👩‍👩‍👧 ..."
    assert "".join(split(text)) == "".join(text.split())
