"""What the columns of tables are called that go between a cluster's tasks and the driver."""

GROUP, ITEM, VALUE, ANSWER, TIMES = "group", "item", "value", "answer", "times"
