#!/bin/sh
# Make sure that Chromium is available for the browser tests: install it through apt if possible, else warn.
if command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || [ -n "$ATTNVIZ_CHROMIUM" ]; then
  exit 0
fi
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk >/dev/null
fi
if command -v chromium >/dev/null 2>&1; then
  exit 0
fi
echo "****************************************************************************"
echo "*  NO CHROMIUM HERE: the browser tests will be SKIPPED, pages unchecked.   *"
echo "*  Install it (Debian: apt-get install chromium) or set ATTNVIZ_CHROMIUM.  *"
echo "****************************************************************************"
[ -z "$CI" ]
