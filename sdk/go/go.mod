module github.com/tollgate/tollgate-go

go 1.18
