"""The scripts of this folder import each other as they do when they are run: the folder is on the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
