"""Text typed by a visitor, made safe for the page: shown as typed, never read as markup."""

import html
import re

from attnviz.base.message import Message
from attnviz.base.words import join_sentences, translate_message
from attnviz.figures.title_lines import text_columns

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&^=])")
_FROM_THE_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")  # Hebrew, Arabic and their kin


def escape_markdown(text: str) -> str:
    """`text` for any Streamlit label or markdown: every character shows as itself."""
    one_line = text.replace("\r", " ").replace("\n", " ⏎ ").replace("\t", " ⇥ ")
    return _SPECIAL.sub(lambda m: f"&#{ord(m[1])};", one_line)


def quote_token(token: str) -> str:
    """A token inside a sentence: in italics; a token of spaces only is shown as a visible sign."""
    return f"*{isolate_direction(escape_markdown(token.strip() or '␣'))}*"


def isolate_direction(text: str) -> str:
    """Text from the right as a part with a direction of its own: numbers and signs after it stay where they belong."""
    return f"\u2068{text}\u2069" if _FROM_THE_RIGHT.search(text) and "\u2068" not in text else text


def translate_markdown(message: Message) -> str:
    """A Message in the visitor's language, for Markdown; its values are shown as typed."""
    return translate_message(message, _escape_value)


def _escape_value(value: object) -> object:
    return isolate_direction(escape_markdown(value)) if isinstance(value, str) else value


#: what is code, the address of a link, or a number's minus
_MINUS = re.compile(r"`[^`]*`|\]\([^)]*\)|(?:(?<!\w)|(?<=\de))-(?=\d|inf\b)")


def typeset_minus(sentence: str) -> str:
    """A sentence of ours in whose numbers a minus is one, as formulas and canvases write it: no line ends after it."""
    return _MINUS.sub(lambda found: "−" if found[0] == "-" else found[0], sentence)


#: LaTeX that sentences about figures use, and how it reads in plain text
_SIGNS = {
    r"\times": "×", r"\cdot": "·", r"\sqrt": "√", r"\approx": "≈", r"\leq": "≤", r"\geq": "≥", r"\to": "→",
    r"\le": "≤", r"\ge": "≥", r"\sigma": "σ", r"\mu": "μ", r"\infty": "∞", r"\pm": "±", r"\beta": "β", r"\alpha": "α",
    r"\tau": "τ", r"\theta": "θ", r"\Delta": "Δ", r"\sum": "Σ", r"\ln": "ln", r"\log": "log", r"\exp": "exp",
    r"\,": " ",
}  # fmt: skip


#: Markdown that sentences about figures use, and what is left of it in plain text
_MARKS = (
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),  # a link
    (r":[a-z]+(?:\[([^\]]*)\]|/\w+:)", r"\1"),  # a colour, an icon
    (r"(\*\*|__)(.+?)\1", r"\2"),
    # a word of the sentence, in italics; Chinese ones may stand directly beside it
    (r"“?(?<![A-Za-z0-9*_])[*_](?!\s)“?([^*_]+?)”?(?<!\s)[*_](?![A-Za-z0-9*_])”?", r"“\1”"),
    (r"`([^`]+)`", r"\1"),
    (r"\\([\\`*_{}\[\]()#+\-.!|~$:<>])", r"\1"),
)


def strip_markdown(markdown: str) -> str:
    """A sentence made for Markdown as plain text: no stars, no dollar signs, no entities, links by their words."""
    text = re.sub(r"\$([^$]+)\$", lambda match: _unmarked_formula(match[1]), markdown)
    for mark, left in _MARKS:
        text = re.sub(mark, left, text)
    return html.unescape(text)


_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|(?<=[。！？])(?=.)")
_SOURCE = re.compile(r"(?s)(\*\*[^*]+(?:[.。]\*\*|\*\*[.。]))\s*(.+)")
SHORT, LONG = 17, 110  #: columns: what is shorter only names something; what is longer is cut at a semicolon


def split_headline(text: str) -> tuple[str, str]:
    """The first sentence that tells something, without its full stop: a title; and what else is said."""
    parts = _ENDS.split(text)
    index = next((i for i, sentence in enumerate(parts) if text_columns(sentence) >= SHORT), 0)
    first, others = parts[index], [*parts[:index], *parts[index + 1 :]]
    if text_columns(first) > LONG:
        short, _cut, more = first.replace("；", "; ").partition("; ")
        if short.count("(") == short.count(")"):
            first, others = short, [*others[:index], more[:1].upper() + more[1:], *others[index:]]
    return first.rstrip(".。"), join_sentences(*others)


def move_source_last(markdown: str) -> str:
    """The same with a bold first sentence, which says what numbers are of, at its end: it is no title."""
    found = _SOURCE.fullmatch(markdown)
    return join_sentences(found[2], found[1]) if found else markdown


def _unmarked_formula(latex: str) -> str:
    text = re.sub(r"\\(?:text|mathrm|operatorname|mathbf)\{([^}]*)\}", r"\1", latex)
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\d?frac(\w)(\w)", r"\1/\2", text)
    for sign, plain_sign in _SIGNS.items():
        text = re.sub(re.escape(sign) + r"(?![a-zA-Z])", plain_sign, text)
    text = text.replace(r"^\top", "ᵀ").replace("^T", "ᵀ").replace("^2", "²")
    return re.sub(r"[{}]|\\(?=\W)", "", text).replace("\\", "")


def quote_word(word: str) -> str:
    """A word of the visitor's sentence for use in one of the page's: italic, as typed, cut when it is very long."""
    return quote_token(word if len(word) <= 30 else word[:28] + "…")
