"""What is known of products, terms, error codes and drivers before any node is asked."""
