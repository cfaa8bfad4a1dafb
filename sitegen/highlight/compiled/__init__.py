"""The tables of a Pygments lexer → the same tokens, many times faster.

Pygments tries the rules of a state one after another at each token.  Here a state is one regex: it skips whatever has
no class in one match and then knows by the number of a group which rule has the next token; words are looked up.

`trees` joins regexes, `sets` says with which characters they begin, `loops` tightens them, `rules` reads the tables,
`words`, `strings` and `plain` find what can be done in one step, `program` makes the regex of a state, and `lexer` runs
it.
"""

from sitegen.highlight.compiled.lexer import CompiledLexer

__all__ = ["CompiledLexer"]
