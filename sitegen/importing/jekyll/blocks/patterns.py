"""Patterns of the first lines of kramdown's blocks that more than one reader needs."""

from __future__ import annotations

import re

ATTRIBUTES = re.compile(r"[ \t]*\{:(?!:)(?P<list>[^{}\n]*)\}[ \t]*")
ENVIRONMENT = re.compile(r"[ ]{0,3}\\begin\{(equation|align|gather|multline|eqnarray|alignat)(\*?)\}")
EXTENSION = re.compile(r"[ ]{0,3}\{::?(/?)(\w*)([^{}\n]*?)(/?)\}[ \t]*+")
FENCE = re.compile(r"(?P<lead>[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)$")
FORMULA = re.compile(r"((?:[ \t]*(?:[-*+]|\d+[.)])[ \t]+)?[ \t]*)\$\$(?!\$)")
