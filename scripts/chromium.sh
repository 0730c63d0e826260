#!/bin/sh
# Make sure that Chromium is available for the browser tests: install it through apt if possible, else warn.
# Also a font with Chinese characters, without which pages and pictures in Chinese are boxes; CI looks at them.
if [ -n "$CI" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && ! fc-list :lang=zh 2>/dev/null | grep -q .; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq fontconfig fonts-noto-cjk >/dev/null || true
fi
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
