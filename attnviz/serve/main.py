"""The main script: page settings, language, navigation, and then the page that the visitor opened."""

from pathlib import Path

import streamlit as st

from attnviz.app import presenting, share_menu, teaching
from attnviz.app.cache.waiting_line import PAGES
from attnviz.app.links.choices import follow_move
from attnviz.app.links.link_state import handed_on_link, push_url, sync_from_url, unreported_refusals
from attnviz.app.page_entry import page_file
from attnviz.app.text import translate_markdown
from attnviz.app.widget_values import apply_returned_values, note_returned_widgets, set_when_complete
from attnviz.app.workarounds.compatibility_checks import log_missing_parts
from attnviz.app.workarounds.streamlit_adapter import leave_if_gone
from attnviz.base.words import selected_language, set_language_source, use_language
from attnviz.canvas import connection
from attnviz.canvas.shared.component import publishing, remember_page
from attnviz.serve import navigation

set_language_source(navigation.requested_language)

MOST_REFUSALS = 4  #: sentences about a link above the picture
MENU_WIDTH = 220  #: pixels of the menu beside a page, where there is room for both; app.css keeps as much free

# inside another page there is room for the view only; its visitors may still open the menu
st.set_page_config(
    page_title="attnviz",
    page_icon="👁️",
    layout="wide",
    initial_sidebar_state="collapsed" if st.context.is_embedded else MENU_WIDTH,
)

st.logo(Path(__file__).with_name("logo.svg"), size="large")

log_missing_parts()

with use_language(navigation.requested_language_before_sync()):
    page = st.navigation(
        navigation.streamlit_pages(),
        position="hidden" if navigation.links_carry_choices() else "sidebar",
        expanded=True,
    )
sent = st.query_params.to_dict()
page_name, parameters = follow_move(page.url_path or "home", sent)
if page_name != (page.url_path or "home"):
    st.switch_page(page_file(page_name), query_params=parameters)
elif parameters != sent:  # what has moved lies on this page
    st.query_params.from_dict(parameters)
remember_page(page.url_path)
note_returned_widgets()
entered = sync_from_url(page.url_path or "home")
# the language is looked up once: a page says hundreds of sentences
with (
    PAGES.turn(lambda _before: leave_if_gone()),
    use_language(selected_language()),
    set_when_complete(),
    publishing(None, handed_on_link),
):
    navigation.draw_menu()
    presenting.begin_presenting()
    share_menu.begin_figures()
    above = st.container() if unreported_refusals() else None
    page.run()
    unsaid = [translate_markdown(message) for message in unreported_refusals()]  # by no control of the page
    if unsaid:
        (above or st).warning("\n\n".join(unsaid[:MOST_REFUSALS] + ["…"] * (len(unsaid) > MOST_REFUSALS)))
    if not page.url_path and not presenting.is_presenting():
        navigation.draw_cards()
        teaching.draw_join_field()
    presenting.end_presenting()
    share_menu.end_figures()
    teaching.draw_wall()
    connection.mount_notice(teaching.resume_room, teaching.room_state())
    apply_returned_values()
    if entered:
        push_url()
