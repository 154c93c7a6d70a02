"""What happens before what: clocks of threads and of asynchronous operations."""
