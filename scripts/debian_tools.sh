#!/bin/sh
# Make sure that what the browser tests and those of serving a class need is here: installed through apt where that is
# possible, else named. CI fails without it. Also a font with Chinese characters, without which pages and pictures in
# Chinese are boxes; CI looks at them.
PATH=$PATH:/usr/sbin:/usr/local/sbin

debian() {
  command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 0
  echo "Installing $*..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

browser() {
  command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || [ -n "$ATTNVIZ_CHROMIUM" ]
}

if [ -n "$CI" ] && ! fc-list :lang=zh 2>/dev/null | grep -q .; then debian fontconfig fonts-noto-cjk || true; fi
# Without windows of its own Chromium takes less of the processor; where Debian has no such package the other one will do.
if ! browser || [ -n "$CI" ]; then command -v chromium-headless-shell >/dev/null 2>&1 || debian chromium-headless-shell || true; fi
browser || debian chromium fonts-noto-cjk
command -v nginx >/dev/null 2>&1 || debian nginx-light
# One slow test looks at the site in another browser; 80 MB, which only CI fetches by itself.
has_firefox() { command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || [ -n "$ATTNVIZ_FIREFOX" ]; }
if [ -n "$CI" ] && ! has_firefox; then debian --no-install-recommends firefox-esr || true; fi

status=0
if ! browser; then
  echo "****************************************************************************"
  echo "*  NO CHROMIUM HERE: the browser tests will be SKIPPED, pages unchecked.   *"
  echo "*  Install it (Debian: apt-get install chromium) or set ATTNVIZ_CHROMIUM.  *"
  echo "****************************************************************************"
  [ -z "$CI" ] || status=1
fi
if ! command -v nginx >/dev/null 2>&1; then
  echo "*  NO NGINX HERE: serving a class will NOT be checked (Debian: apt-get install nginx-light).  *"
  [ -z "$CI" ] || status=1
fi
if [ -n "$CI" ] && ! has_firefox; then
  echo "*  NO FIREFOX HERE: the site will NOT be checked in it (Debian: apt-get install firefox-esr).  *"
  status=1
fi
exit $status
