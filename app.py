"""attnviz: `streamlit run app.py`. The pages' main script is attnviz/ui/web/main.py."""

import streamlit as st

from attnviz.ui.web import server

app = st.App(server.MAIN, lifespan=server.lifespan, routes=server.ROUTES, middleware=server.MIDDLEWARE)
