#!/bin/sh
# Make sure that nginx is there for the tests of serving a class: install it through apt if possible, else warn.
PATH=$PATH:/usr/sbin:/usr/local/sbin
if command -v nginx >/dev/null 2>&1; then
  exit 0
fi
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing nginx for the tests of serving a class..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx-light >/dev/null
fi
if command -v nginx >/dev/null 2>&1; then
  exit 0
fi
echo "*  NO NGINX HERE: serving a class will NOT be checked (Debian: apt-get install nginx-light).  *"
[ -z "$CI" ]
