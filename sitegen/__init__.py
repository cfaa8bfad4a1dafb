"""sitegen: posts about GPU kernels, measured on a GPU machine, published as a static site."""

__version__ = "0.1.0"
