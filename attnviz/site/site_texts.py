"""Sentences of a site around its pictures, in the site's language."""

from attnviz.base.words import _
from attnviz.site.model_files import LONGEST


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
