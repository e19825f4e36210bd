"""A package, so that pytest ends its endpoint before the tests of the next folder begin."""
