"""Measuring an endpoint: warm-up, load, metrics, results that can be kept and compared."""
