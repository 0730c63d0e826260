"""The main script: page settings, language, navigation, and then the page that the visitor opened."""

from pathlib import Path

import streamlit as st

from attnviz.app import presenting, share_menu
from attnviz.app.cache.waiting_line import PAGES
from attnviz.app.links.link_state import follow, settle, unsaid_refusals
from attnviz.app.mends.reliances import log_what_is_gone
from attnviz.app.mends.streamlit_adapter import leave_if_gone
from attnviz.app.text import spoken
from attnviz.app.widget_values import heard_at_its_end, note_returned, take_returned
from attnviz.base.words import language, set_language_source, speaking
from attnviz.canvas import connection
from attnviz.canvas.shared.component import remember_page
from attnviz.serve import navigation

set_language_source(navigation.language_asked)

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

log_what_is_gone()

with speaking(navigation.language_arriving()):
    page = st.navigation(navigation.pages(), position="hidden" if navigation.carries() else "sidebar", expanded=True)
remember_page(page.url_path)
note_returned()
entered = follow(page.url_path or "home")
# the language is looked up once: a page says hundreds of sentences
with PAGES.turn(lambda _before: leave_if_gone()), speaking(language()), heard_at_its_end():
    navigation.menu()
    presenting.begin()
    share_menu.begin_figures()
    above = st.container() if unsaid_refusals() else None
    page.run()
    unsaid = [spoken(message) for message in unsaid_refusals()]  # by no control of the page
    if unsaid:
        (above or st).warning("\n\n".join(unsaid[:MOST_REFUSALS] + ["…"] * (len(unsaid) > MOST_REFUSALS)))
    if not page.url_path and not presenting.presenting():
        navigation.cards()
    presenting.end()
    share_menu.end_figures()
    connection.notice()
    take_returned()
    if entered:
        settle()
