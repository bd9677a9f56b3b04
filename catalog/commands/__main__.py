"""`python -m catalog.commands`, for a checkout that isn't installed."""

from catalog.commands import main

if __name__ == "__main__":
    main()
