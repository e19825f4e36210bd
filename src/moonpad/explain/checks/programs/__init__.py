"""The checks of what a program in Python does around the engine that it makes or starts."""
