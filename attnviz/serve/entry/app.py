"""The app object that Streamlit serves, around the main script. `attnviz` and the top folder's app.py run this file."""

import streamlit as st

from attnviz.serve import configuration, page_table, server

configuration.apply()

app = st.App(page_table.MAIN, lifespan=server.lifespan, routes=server.ROUTES, middleware=server.MIDDLEWARE)
