"""What Streamlit serves: its own app around the main script. `attnviz` runs this file, and so does the top folder's."""

import streamlit as st

from attnviz.serve import configuration, page_table, server

configuration.apply()

app = st.App(page_table.MAIN, lifespan=server.lifespan, routes=server.ROUTES, middleware=server.MIDDLEWARE)
