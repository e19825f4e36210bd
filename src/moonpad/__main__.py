"""`python -m moonpad` is the `moonpad` command."""

from moonpad.cli.main import main

if __name__ == "__main__":
    main()
