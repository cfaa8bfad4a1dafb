"""Turn Markdown into HTML with numbered slots.

`parse` reads a text, `documents` all texts of a site.  `directives/` holds a module for each directive and role,
`drawn/` the figures that are computed, and `fast/` the shortcuts through markdown-it.

Codes of parse_document:

SG101 unknown directive · SG102 unknown role · SG103 unknown option · SG104 option twice · SG105 value of an option
SG106 cell without label · SG107 no place for a cell · SG108 label or id twice · SG109 language of a cell
SG110 options that do not go together · SG111 argument of a directive
SG113 refused HTML · SG114 HTML out of balance · SG115 formula · SG116 fence language (a warning)
SG117 image without words (a warning) · SG118 unknown footnote · SG119 YAML of an option
SG120 unknown label · SG121 label for another kind of thing · SG122 a label beside works of others
SG123 notes of a listing and their places in its code · SG124 tabs · SG130 to SG134: drawn/__init__.py
SG135 text of a figure or a claim · SG136 a given figure without a source
SG144 a link or a role that is read as text (a warning)
"""
