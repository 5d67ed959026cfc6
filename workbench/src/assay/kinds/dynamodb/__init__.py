"""Tables of DynamoDB services, which the engine accesses directly."""
