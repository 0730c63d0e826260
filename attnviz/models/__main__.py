"""`python -m attnviz.models`: what `attnviz models` does."""

import sys

from attnviz.models.models_command import main

sys.exit(main())
