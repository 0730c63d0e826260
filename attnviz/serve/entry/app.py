"""What Streamlit serves: its own app around the main script. `attnviz` runs this file, and so does the top folder's."""

import streamlit as st

from attnviz.serve import configuration, server

configuration.apply()

app = st.App(server.MAIN, lifespan=server.lifespan, routes=server.ROUTES, middleware=server.MIDDLEWARE)
