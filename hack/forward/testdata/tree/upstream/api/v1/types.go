package v1

// Kind is a typed string with constants.
type Kind string

const (
	KindA Kind = "a"
	KindB Kind = "b"
)

type Level int

const (
	Low Level = iota
	Mid
	High
)

const (
	Plain = 3
	Big   = 1 << 62
	Ratio = 1.0 / 3
	Char  = 'x'
	small = 1
)

const First, Second = "1", 2

type Object struct{ Kind Kind }

func (o *Object) Name() string { return string(o.Kind) }
