import streamlit as st

st.title("hello")
