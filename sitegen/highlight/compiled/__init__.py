"""Compile the tables of a Pygments lexer into a program that makes the same tokens many times faster.

Pygments tries the rules of a state one after another at each token.  Here a state is one regex.  In one match it skips
all text without a class, and the number of the matched group says which rule has the next token.  Words are looked up.

`trees` joins regexes, `sets` computes the characters with which they begin, `loops` tightens them, `rules` reads the
tables.  `words`, `strings` and `plain` recognise what one step can read, `program` makes the regex of a state, and
`lexer` runs it.
"""

from sitegen.highlight.compiled.lexer import CompiledLexer

__all__ = ["CompiledLexer"]
