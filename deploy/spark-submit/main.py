"""The file that spark-submit runs: the command `evaljob`."""

import sys

from jobs.cli import main

sys.exit(main())
