import sqlite3
orders = sqlite3.connect("orders.db")
orders.execute("create table orders (id integer primary key, customer integer, note text)")
orders.execute("create index by_customer on orders (customer)")
for number in range(40):
    with orders:
        orders.execute("insert into orders values (?, ?, ?)", (number, number * 7919 % 1000, "x" * 300))
