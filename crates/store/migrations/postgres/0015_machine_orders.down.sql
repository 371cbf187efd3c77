DROP TABLE machine_orders;
