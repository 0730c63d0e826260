"""attnviz: `streamlit run app.py`. The pages' main script is attnviz/ui/web/main.py."""

import streamlit as st

from attnviz.ui.web.server import MAIN, ROUTES, lifespan

app = st.App(MAIN, lifespan=lifespan, routes=ROUTES)
