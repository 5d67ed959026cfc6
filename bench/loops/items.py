"""Puts or gets items of a table with boto3 for a while, in as many threads as are asked for, and says what that took.

A program of its own, so that its CPU time is its own: ENDPOINT put|get SIZE CONCURRENT SECONDS. What one would write
who needs a number from a table service today: one client and one connection for each thread, no retries.
"""

import json
import os
import sys
import threading
import time
import uuid

import boto3
from botocore.config import Config

COUNT = 200
"""Items that there are to get."""


def client(endpoint):
    """One connection, and nothing sent twice."""
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=1)
    return boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1", config=config)


def prepare(endpoint, table, contents):
    """Makes the table and the items that are got."""
    dynamodb = client(endpoint)
    dynamodb.create_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.get_waiter("table_exists").wait(TableName=table, WaiterConfig={"Delay": 1})
    for number in range(COUNT):
        dynamodb.put_item(TableName=table, Item={"pk": {"S": f"{number:020}"}, "d": {"B": contents}})


def loop(dynamodb, operation, table, contents, first, end, done):
    """One thread's requests until the end; how many goes into `done`."""
    number = first
    while time.monotonic() < end:
        key = {"pk": {"S": f"{number % COUNT:020}"}}
        if operation == "put":
            dynamodb.put_item(TableName=table, Item={**key, "d": {"B": contents}}, ReturnConsumedCapacity="TOTAL")
        else:
            dynamodb.get_item(TableName=table, Key=key, ReturnConsumedCapacity="TOTAL")["Item"]["d"]["B"]
        number += 1
    done.append(number - first)


def main():
    """Says what it did as JSON."""
    endpoint, operation, size, concurrent, seconds = sys.argv[1:]
    contents, table = os.urandom(int(size) - 25), f"bench-{uuid.uuid4()}"
    prepare(endpoint, table, contents)
    clients = [client(endpoint) for _ in range(int(concurrent))]
    for one in clients:
        one.describe_table(TableName=table)
    done, cpu, begin = [], time.process_time(), time.monotonic()
    threads = [
        threading.Thread(target=loop, args=(one, operation, table, contents, 17 * first, begin + float(seconds), done))
        for first, one in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, used = time.monotonic() - begin, time.process_time() - cpu
    clients[0].delete_table(TableName=table)
    if len(done) < len(clients):
        sys.exit("a thread has failed")
    print(json.dumps({"requests": sum(done), "bytes": sum(done) * int(size), "seconds": took, "cpu_s": used}))


main()
