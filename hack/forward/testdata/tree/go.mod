module example.com/tree

go 1.26.0

require up.example/tree v0.0.0

replace up.example/tree => ./upstream
