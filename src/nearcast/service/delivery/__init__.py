"""From durable changes to subscribers: the current set, webhooks, Kafka."""
