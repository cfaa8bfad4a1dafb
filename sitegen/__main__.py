"""`python -m sitegen`, for a GPU machine where the package lies in a folder and nothing is installed."""

from sitegen.cli import main

main(prog_name="sitegen")
