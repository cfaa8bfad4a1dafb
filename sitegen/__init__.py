"""Build static sites of posts about GPU kernels, with figures from measurements on a GPU machine."""

__version__ = "0.1.0"
