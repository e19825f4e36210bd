"""Packages, clones and weights that are fetched before a start."""
