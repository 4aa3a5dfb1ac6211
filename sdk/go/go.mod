module tollgate/sdk

go 1.18
