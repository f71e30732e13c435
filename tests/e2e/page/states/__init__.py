"""Every state of the page in one table, which a test walks through and `make look` takes pictures of."""
