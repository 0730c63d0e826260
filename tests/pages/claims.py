"""What a sentence claims wrongly, by its own numbers or of words that are all alike: a table of patterns."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_N = r"[+−-]?\d[\d,]*(?:\.\d+)?(?:e[+−-]?\d+)?"  # a number, as pages write it
#: words after "1" that end like a plural and are none
_NO_PLURALS = (
    "across|always|as|bias|class|does|focus|goes|has|is|its|less|loss|makes|minus|pass|plus|takes|this|was|gives|gets|"
    "reaches|sees|turns|holds|keeps|leaves|stands|thus|times|towards|versus"
)


@dataclass(frozen=True)
class Claim:
    """Sentences that match `pattern` claim something; `is_false` says of a match whether they do so wrongly."""

    name: str
    pattern: str
    is_false: Callable[[re.Match[str]], bool] = lambda _match: True
    of: Literal["all", "equal words"] = "all"  #: whether it is false of any words, or only where all words are alike


def number(text: str) -> float:
    """The number that a page wrote."""
    return float(text.replace(",", "").replace("−", "-"))


def _alike(match: re.Match[str]) -> bool:
    return match[1] == match[2]


def _more_than_all(match: re.Match[str]) -> bool:
    return sum(number(share) for share in re.findall(rf"({_N})%", match[0])) > 101.5  # three shares, each rounded


CLAIMS = (
    # A winner where nothing can win
    Claim(
        "a winner among equal ones",
        r"(?=.*(?:\*(?:the|cat)\*|“(?:the|cat)(?: \(\d\))?”))"
        r".*?((?<!at )(?<!changes )\bmost\b|\bmore than (?:to )?any\b|"
        r"\b(?:largest|longest|smallest|strongest|nearest)\b|\bbest match\b|(?<!at )\bleast\b)",
        of="equal words",
    ),
    Claim("most, by nothing", r"\bmost\b[^.]*?\bby (?:up to )?[+−-]?0(?:\.0+)?%?(?![\d.]\d)"),
    Claim("leads by nothing", r"\b(?:leads|trails)\b[^.]*? by 0\.0+\b"),
    Claim("a largest that is the smallest", rf"largest value is ({_N})\D*?smallest ({_N})", _alike),
    # first, last, only
    Claim("first, and before it first too", r"one layer earlier it is number 1\b"),
    Claim("first nowhere, and last first", r"comes first at no layer: it ends in place 1\b"),
    Claim("first and last of one", r"\b[Ff]irst pair\b.*\blast\b.*\bof 1\b"),
    Claim("only all", rf"\bonly ({_N}) of ({_N})\b(?!%)", _alike),
    # all, both, half, none
    Claim("all of one or two", r"\b[Aa]ll (?:of the )?[12] (?!of\b)[a-z]"),
    Claim("both of one", r"\bboth\b[^.]*\(here 1\)"),
    Claim("more than half", rf"\b[Mm]ore than half\b[^.%]*?({_N})%", lambda match: number(match[1]) <= 50),
    Claim("less than half", rf"\b[Ll]ess than half\b[^.%]*?({_N})%", lambda match: number(match[1]) >= 50),
    Claim(
        "more than there are",
        rf"(?<![\d.,×]) ({_N}) of (?:the |its )?({_N})(?![\d,.]*[\d%])",
        lambda match: number(match[1]) > number(match[2]),
    ),
    Claim("more than everything", r"“[^”]*” gives [^.]*?%[^“]*“[^”]*”(?:[^.]*?%[^“]*“[^”]*”)*", _more_than_all),
    # one against another
    Claim("from X to X", rf"\b(?:from|between) ({_N}%?) (?:to|and) ({_N}%?)(?!\d)", _alike),
    Claim("wrong and right alike", rf"({_N}%?) \(right: ({_N}%?)\)(?!.*\bin both\b)", _alike),
    Claim("X instead of X", rf"({_N}%?) instead of ({_N}%?)(?![\d%])", _alike),
    Claim(
        "fewer that is more",
        rf"(?<![\d.,])({_N}) times (?:fewer|less|faster|smaller|larger|longer)\b",
        lambda match: number(match[1]) <= 1,
    ),
    Claim("so many times that is once", r"(?<![\d.,])1(?:\.0+)? times (?:the|as)\b"),
    # one thing as several
    Claim(
        "one of a thing as several",
        r"(?<![\d.,×·−/=-])(?<!= )(?<!(?:word|step|head) )(?<!(?:length|number) )(?<!(?:layer|block) )(?<!request )"
        rf"(?<!row )\b1 ((?:[\w/-]+ )?(?!(?:{_NO_PLURALS})\b)[a-z]{{2,}}s)\b|\bthe 1 \w+s\b",
    ),
    # what is no sentence
    Claim("no number", r"(?<![\w“*`/.−-])(?:nan|inf|None)(?![\w”*`(]| [a-z])"),
    Claim("an empty name", r"“”|\*\*\*\*|“ ”"),
    Claim("two stops", r"(?<!\.)\.\.(?!\.)|,,|(?<![l.])\.,|;;|\. \."),
    Claim("minus nothing", r"[−-]0(?:\.0+)?(?![\d.,]\d|\d|e)(?=[\s.,;:)%]|$)(?<![\d)][−-]0)"),
    Claim("an unfilled place", r"\{\w+(?::[^}]*)?\}"),
)


def false_claims(text: str, *, equal: bool = False, template: bool = False) -> list[str]:
    """The names of the claims that `text` makes wrongly, each with what was matched.

    equal     all words that it speaks of are alike, or there is only one
    template  a browser fills its places later
    """
    plain = re.sub(r"\$[^$]*\$|`[^`]*`", "", text.replace("**", ""))
    return [
        f"{claim.name}: {match[0]}"
        for claim in CLAIMS
        if (equal or claim.of == "all") and not (template and claim.name == "an unfilled place")
        for sentence in re.split(r"(?<=[.]) (?=[A-Z“*])", plain)
        for match in re.finditer(claim.pattern, sentence if claim.name != "two stops" else plain)
        if claim.is_false(match)
    ]
