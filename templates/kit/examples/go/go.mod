module kit

go 1.21
