"""One module for each page: what it asks the services, and what it shows or does with the answer."""
