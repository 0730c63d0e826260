"""The Chinese edition follows its table of terms: a sentence with an English term has that term's Chinese in it."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from attnviz.base.words import LOCALE_DIR
from scripts import languages
from scripts.translation_faults import forms_of
from scripts.words import ROOT

TABLE = ROOT / "docs" / "developing" / "terms.zh.md"
ROW = re.compile(r"^\| (?P<english>.+?) \| (?P<chinese>.+?) \| ?(?P<note>.*?) ?\|$", re.M)
HAN = re.compile(r"[\u4e00-\u9fff]+")
#: what a sentence names as a program writes it: code, options, shapes, values in quotes, names with a sign after them
CODE = re.compile(
    r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|%?\{[^{}]*\}|%\([a-z_]+\)|https?://\S+|\"[^\"]*\"|\b\w+=|--\S+|\b\w+[._/]\w[\w./]*"
    r"|\([a-z.]+(?:, [a-z.]+)*,?\)|^ *attnviz .*$|^examples:$",
    re.M,
)
#: terms that are everyday words, too, and then no terms: nothing can be told from the word alone
EVERYDAY = {
    "even", "example", "fill", "hear of", "hide", "in the first ten", "is looked at by", "kept", "learned",
    "length", "looks at", "mean", "measure", "measured", "no", "off by", "on show", "pass", "pattern", "pieces",
    "place", "reach", "right", "running max", "save", "share", "spread", "start", "step", "sum", "trained", "turn",
    "whole words", "with", "without", "work", "wrong", "yes",
}  # fmt: skip
#: sentences, by how they begin, that say a term in another way, and why
OTHERWISE = {
    "Any other option goes to Streamlit": "an address as an example", "block holds {pair}": "the name of an argument",
    "mask has ": "the name of an argument", "positions have shape": "the name of an argument",
    "sinks has shape": "the name of an argument", "sentence = ": "the name of a line in a lesson’s file",
    "link: ": "the name of a line in a lesson’s file", "padding takes either": "the name of an argument",
    "grad and residual are of one pass": "the names of arguments",
    "layer {index} is in {towers}": "the name of an argument", "all (catalogue when hosted)": "the value of a setting",
    "The config of {name} names a kernel": "the name of a line in a model’s config", "width // 3 each": "a formula",
    "nn.Linear computes x @ weight.T": "the title of a line of code",
    "Why “are” and not “is”": "the keys of a cabinet, in the English sentence",
    "One family, thirteen tokens": "a family of people", "The farther the key": "said as a place: 最远处",
    "The order of the weights stays": "of two numbers: 差距",
    "Scores are divided by the temperature": "“values above 1” are numbers of the temperature",
    "**Temperature** divides": "“values above 1” are numbers of the temperature",
    "At d_k = {d_k} the largest value": "“the largest” is enough",
    "The question has {count} tokens": "who is asked goes without saying",
    "the model ran other layers": "who ran goes without saying",
    "Mask, scale and hidden tokens are chosen beside": "“the large picture” is enough",
    "What the patch, token or word that you point at": "所指: point at, as a part of another word",
    "Each K/V head costs {bytes}": "bytes are taken, not paid",
    "One decoded token in one layer: expanding": "a verb: 付出计算",
    "What does attention buy, and what does it cost": "a pair of verbs: 换来, 付出",
    "Weight on earlier copies of the same token, from": "各次出现, for there are several",
    "another sentence below": "the words below a figure: 说明", "MLP": "a label, in letters",
}  # fmt: skip


def plain(term: str) -> str:
    """A term as sentences have it: without what the table says about it in brackets."""
    return re.sub(r" ?\([^)]*\)", "", term).strip().lower()


def is_page(term: str) -> bool:
    """Whether the table says that this is a page's name, which is one where it stands alone or in quotes."""
    return "page" in term.partition("(")[2]


@dataclass
class Term:
    """What the table says of a term: the Chinese words for it, and those that are not."""

    said: set[str] = field(default_factory=set)
    unsaid: set[str] = field(default_factory=set)
    a_page: bool = True


def table() -> dict[str, Term]:
    """Each English term of the table. One that has several rows is said in the words of any of them."""
    found: dict[str, Term] = defaultdict(Term)
    for row in ROW.finditer(TABLE.read_text("utf-8")):
        if row["english"] == "English" or row["english"].startswith("-"):
            continue
        allowed, _, forbidden = row["note"].partition("not ")
        refused, _, more = forbidden.partition(";")
        for each in re.split(r", | / ", row["english"]):
            if term := plain(each):
                one = found[term]
                one.said.update(HAN.findall(f"{row['chinese']} {allowed} {more}") or [plain(row["chinese"])])
                one.unsaid.update(HAN.findall(refused))
                one.a_page &= is_page(row["english"])
    return found


TERMS = table()
#: each sentence, what the catalogue makes of it, and its words in small letters, without code
SENTENCES = [
    (english, form, CODE.sub(" ", english).lower())
    for ids, form in ((each.id, forms_of(each)[0]) for each in languages.read(LOCALE_DIR / "zh.po"))
    for english in ([ids] if isinstance(ids, str) else ids[-1:])
    if english and form
]


@cache
def with_term(term: str) -> tuple[tuple[str, str], ...]:
    """The sentences that have this term as a word, and what the catalogue makes of them."""
    word = re.compile(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])")
    if TERMS[term].a_page:
        word = re.compile(rf"^{re.escape(term)}$|“{re.escape(term)}”")
    return tuple((english, chinese) for english, chinese, words in SENTENCES if term in words and word.search(words))


def excused(english: str) -> bool:
    """Whether this sentence may say its terms otherwise."""
    return english.startswith(tuple(OTHERWISE))


def said_otherwise(term: str) -> list[tuple[str, str]]:
    """The sentences with this term that have none of its Chinese words, or one that the table forbids."""
    held = TERMS[term]
    return [
        (english, chinese)
        for english, chinese in with_term(term)
        if not any(word in chinese.lower() for word in held.said) or any(word in chinese for word in held.unsaid)
    ]


def test_each_term_is_said_as_the_table_says():
    other = {
        term: (sorted(TERMS[term].said), each)
        for term in sorted(set(TERMS) - EVERYDAY)
        if (each := [pair for pair in said_otherwise(term) if not excused(pair[0])])
    }
    assert other == {}


def test_the_table_is_read_and_most_of_its_terms_are_used():
    assert len(TERMS) > 250
    assert sum(any(with_term(term)) for term in TERMS) > 0.7 * len(TERMS)
    assert TERMS["cell"].said >= {"格子", "格"}
    assert TERMS["cell"].unsaid == {"单元格"}


def test_each_excuse_is_needed():
    needed = [english for term in set(TERMS) - EVERYDAY for english, _ in said_otherwise(term)]
    assert [each for each in OTHERWISE if not any(english.startswith(each) for english in needed)] == []
    assert EVERYDAY - set(TERMS) == set()


def test_a_sentence_uses_the_houses_word_and_none_of_its_other_names():
    """The last column of docs/developing/terms.md: other names of one thing."""
    rows = re.findall(
        r"^\| (?!Say|-)(.+?) \|.*\| ?([^|]*?) ?\|$", (ROOT / "docs/developing/terms.md").read_text(), re.M
    )
    others = {other: say for say, names in rows for other in names.split(", ") if other}
    assert len(others) > 30
    wrong = {
        f"{other}: say {say}, in: {english}"
        for other, say in others.items()
        for english, _chinese, words in SENTENCES
        if re.search(rf"\b{re.escape(other.lower())}\b", words)
    }
    assert not wrong
