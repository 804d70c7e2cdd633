"""What `make` needs to install and check the project; nothing here runs in production."""
