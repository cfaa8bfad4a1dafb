"""Documents → HTML: slots filled, images, citations, and what other pages quote of a text."""
