"""The script of the page of a student's phone (rooms/phone_page.py): no component that Streamlit mounts."""
