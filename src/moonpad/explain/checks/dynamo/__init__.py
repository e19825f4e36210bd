"""Dynamo's workers, its frontend and its graphs of services."""
