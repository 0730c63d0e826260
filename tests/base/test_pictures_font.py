"""The font of pictures: what is said of it agrees with its files."""

from attnviz.base.rasterised import _match_font, render_png

PLAIN = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="24" font-family="{}"><text y="18">{}</text></svg>'


def test_a_png_is_drawn_in_the_font_and_a_sign_that_it_lacks_does_not_change_the_line_into_bold():
    own, other = (
        render_png(PLAIN.format(family, "mixture")) for family in ("'Source Sans 3', sans-serif", "sans-serif")
    )
    assert own != other
    signs = render_png(PLAIN.format("'Source Sans 3', sans-serif", "√64 mixed"))
    assert signs == render_png(PLAIN.format(_match_font("sans-serif"), "√64 mixed")), (
        "in the system's usual font, upright"
    )
