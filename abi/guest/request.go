package guest

// Request is one call. Body aliases the input and is the handler's to change.
type Request struct {
	ABI       string
	Kind      string
	Op        string
	MediaType string
	Limits    Limits
	Body      []byte
}

// Limits are what the host enforces, in bytes and milliseconds.
type Limits struct {
	MemoryBytes int64
	OutputBytes int64
	LogBytes    int64
	WallMillis  int64
}

// Answer is a result: header fields beside abi, kind and op, and the body in parts, written one
// after the other without being joined first.
type Answer struct {
	Fields []Field
	Body   [][]byte
}

// Field is one member of an answer's header.
type Field struct {
	name string
	json string
}

// Int is a header field that holds an integer.
func Int(name string, n int) Field { return Field{name, itoa(int64(n))} }

// Bool is a header field that holds a truth value.
func Bool(name string, b bool) Field {
	if b {
		return Field{name, "true"}
	}
	return Field{name, "false"}
}

// String is a header field that holds a string.
func String(name, s string) Field { return Field{name, string(appendString(nil, s))} }

// NoOffset says that an Error points to no byte.
const NoOffset = -1

// Error refuses the input. Code matches [a-z][a-z0-9_]{0,63}; Offset is a byte offset in the request
// body or NoOffset; Detail is at most 512 bytes and holds no source text.
type Error struct {
	Code   string
	Offset int
	Detail string
}

// Refuse makes an Error.
func Refuse(code string, offset int, detail string) *Error {
	return &Error{Code: code, Offset: offset, Detail: detail}
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Code
	}
	return e.Code + ": " + e.Detail
}

// Handler serves one operation. It returns an *Error to refuse the input; any other error is
// reported as a fault of the module.
type Handler func(Request) (Answer, error)
