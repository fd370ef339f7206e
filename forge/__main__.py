"""``python -m forge``."""

from forge.cli import main

if __name__ == "__main__":
    main()
