"""Runs the keeper: `python -I -S …/run/keeper/__main__.py keep RUN_DIR` here, `python3 -I -S keeper.pyz …` on other
hosts, where this file is the archive's `__main__.py`.

-I -S: nothing of the user's Python set-up reaches the keeper, and it starts in some tens of milliseconds.
"""

import os
import sys

if __spec__ is None:  # run as a file: the folder that holds `moonpad` is not on the path yet
    sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from moonpad.run.keeper.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
