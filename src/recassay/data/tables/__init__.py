"""Tables from files: results, responses, instances, characteristics."""
