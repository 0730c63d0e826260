"""The script of the lecturer's own window (rooms/phone_page.py): no component that Streamlit mounts."""
