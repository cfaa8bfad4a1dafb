"""Put this folder on the path, so that its scripts import each other as they do when they are run."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
