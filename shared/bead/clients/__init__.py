"""One client for each service, one method for each route; they work the same over a socket and in process."""
