"""Workarounds for faults of Streamlit, uses of its undocumented parts, and a check of each."""
