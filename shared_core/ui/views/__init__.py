"""What each address of the page shows or does: plain functions of a request, without a web framework."""
