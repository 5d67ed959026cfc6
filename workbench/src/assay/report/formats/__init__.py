"""Results in formats that other programs define: OpenMetrics, fio's JSON, JUnit's XML."""
