"""`python -m prudent.cli`."""

from prudent.cli import main

main()
