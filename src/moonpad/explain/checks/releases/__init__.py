"""What a release has, lacks, refuses or has wrong."""
