"""`python -m attnviz`: the command attnviz."""

import sys

from attnviz.command import main

sys.exit(main())
