"""attnviz: `streamlit run app.py`. What it serves lies in the package: attnviz/serve/entry/app.py."""

import streamlit as st

from attnviz.serve import configuration, page_table, server

configuration.apply()

app = st.App(page_table.MAIN, lifespan=server.lifespan, routes=server.ROUTES, middleware=server.MIDDLEWARE)
