"""The figures of a page without a browser: its own script runs for a link and hands over what it offers."""

from attnviz.ui.headless.app_link import AppLink, app_link
from attnviz.ui.headless.figure_file import FORMATS, Looks, figure_file
from attnviz.ui.headless.page_run import PageAnswer, run_page

__all__ = ["FORMATS", "AppLink", "Looks", "PageAnswer", "app_link", "figure_file", "run_page"]
