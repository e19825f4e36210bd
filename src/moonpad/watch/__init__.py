"""A running endpoint at a glance: looks (asking.py) become views and alerts (pure), which are then drawn."""
