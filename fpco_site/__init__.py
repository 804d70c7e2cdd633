"""The building: settings, environment, addresses, background tasks and errors."""
