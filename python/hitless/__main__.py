"""`python -m hitless`, where the command `hitless` is not on the path."""

from hitless.cli.main import main

main()
