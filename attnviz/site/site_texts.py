"""What a site says around the pictures, in the language it is written in."""

from attnviz.base.words import _
from attnviz.site.model_files import LONGEST


def texts() -> dict[str, str]:
    """Sentences of the page; {names} are filled in by the browser."""
    return {
        "sentence": _("Sentence"),
        "model": _("Model"),
        "examples": _("Examples"),
        "read": _("Read it"),
        "silence": _("Silence this head"),
        "stop": _("Stop"),
        "again": _("Load the model"),
        "loading": _("The model is on its way, once: {done} of {of} MB. This sentence was read before."),
        "ready": _("The model is here. Type a sentence; change a head, and see what is said next."),
        "slow": _("The model is here. This browser runs no WebAssembly, so that a sentence takes seconds."),
        "stopped": _("Stopped. The sentence that was read before stays live."),
        "failed": _("The model did not come: {what}"),
        "empty": _("Type a sentence first."),
        "long": _("That sentence has {n} tokens; up to {longest} are read here."),
        "reading": _("Reading: layer {n} of {of}"),
        "took": _("{n} tokens, read in {seconds} s by this browser."),
        "head": _("Layer {layer}, head {head}"),
        "next": _("What comes next"),
        "next_changed": _("What comes next, with the change"),
        "from_to": _("{share}, was {before}"),
        "moved": _("Heads whose weights the change moves"),
        "moved_most": _(
            "{n} heads, these most: the share of their weight that goes to other tokens, mean over all rows."
        ),
        "moved_none": _("No head's weights moved by more than 0.05%."),
        "save": _("Save this head"),
        "write": _("Write it, and go on"),
        "stays": _("The sentence never leaves this machine."),
        "more": _("Up to {n} tokens; heads over texts, pictures, decoding and lessons are in the app.").format(
            n=LONGEST
        ),
        "licences": _("Licences"),
        "open": _("Open in the app"),
        "made": _("Made with attnviz"),
        "all": _("All heads"),
    }
