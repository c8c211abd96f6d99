"""What does the service cost beside its hub? Servers as processes, load over loopback."""
