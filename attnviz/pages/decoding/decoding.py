"""Page: writing token by token with a KV cache, what it saves, what it costs, and how it goes wrong."""

from attnviz.app import page_parts, show, trap_view
from attnviz.base.words import _
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import cache_traps
from attnviz.pages.decoding.page_entry import PAGE
from attnviz.pages.decoding.panels import cache_size, decoder_form, player, policy, roofline


def page() -> None:
    """Draw the page."""
    views = {
        "steps": (_("Step by step"), player.panel),
        "bytes": (_("Bytes"), cache_size.draw_growth),
        "numbers": (_("int8, int4"), cache_size.draw_rounding),
        "policies": (_("What to keep"), policy.panel),
        "speed": (_("Prefill, decode"), roofline.panel),
        "traps": (_("Traps"), draw_traps),
    }
    page_parts.draw_sections(PAGE, choices.VIEW, views, _("View"), decoder_form.walk)


def draw_traps() -> None:
    """Draw section 6: three mistakes with a cache, live in the visitor's sentence."""
    main_picture = page_parts.main_picture()
    words, seed = trap_view.ask_sentence(choices.SENTENCE, choices.SEED)
    trap = trap_view.choose(cache_traps.CACHE_TRAPS, choices.TRAP, words, seed, "d-trap", main_picture)
    trap_view.draw_imports("decoding-imports")
    code = cache_traps.program(trap, words, seed)
    if code is not None:
        show.program(
            code, "decoding-traps", about=_("Paste this code into a notebook: it prints the largest difference above.")
        )


if __name__ == "__main__":  # Streamlit runs this file
    page()
