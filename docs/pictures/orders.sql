-- forge: session: {row_metadata: full}
CREATE TABLE shop.orders (
  id   INT PRIMARY KEY,
  who  VARCHAR(20),
  paid DECIMAL(6,2),
  at   DATETIME(3)
);
INSERT INTO shop.orders VALUES
  (1, 'Zoë', -7.50,
   '2024-02-29 10:00:00.5');
