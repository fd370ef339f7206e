module example.org/fuzz

go 1.25.0

require github.com/go-mysql-org/go-mysql v1.16.0
