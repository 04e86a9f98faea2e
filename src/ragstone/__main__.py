"""`python -m ragstone` is `ragstone`."""

from ragstone.cli.app import main

if __name__ == "__main__":
    main()
