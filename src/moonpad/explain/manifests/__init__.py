"""Objects of Kubernetes, values of charts, compose files and other YAML that starts an engine."""
