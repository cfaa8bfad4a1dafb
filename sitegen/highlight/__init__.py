"""Turn source code into the HTML of its lines, in which classes colour the tokens.

`lines` is what other rooms call.  `lexers` holds the languages that Pygments lacks, `compiled` reads the languages that
the tests verified many times faster than Pygments does, and `listing` joins tokens to lines.
"""
