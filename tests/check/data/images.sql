SET binlog_row_image=MINIMAL, binlog_rows_query_log_events=ON;
CREATE TABLE img (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(10) DEFAULT 'q', b TEXT, c INT UNSIGNED, d INT NOT NULL DEFAULT 7);
INSERT INTO img (a) VALUES ('x'),('y');
INSERT INTO img () VALUES ();
CREATE TABLE nokey (a INT DEFAULT 5, b INT);
INSERT INTO nokey () VALUES ();
UPDATE img SET c=4000000000, b=NULL WHERE id=1;
UPDATE img /* two
lines */ SET a='z';
DELETE FROM img WHERE id=2;
SET binlog_row_image=NOBLOB;
UPDATE img SET c=5 WHERE id=1;
UPDATE img SET b='blob' WHERE id=1;
DELETE FROM img WHERE id=1;
