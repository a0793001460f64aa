"""``python -m rbdc``."""

from rbdc.cli import main

main()
