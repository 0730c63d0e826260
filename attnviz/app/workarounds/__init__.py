"""All that leans on Streamlit's insides: each fault that is mended, what else is asked, a check of all."""
