package guest

import (
	"bytes"
	"errors"
)

const abi = "writ/1"

// What run returns; abi/README.md lists the codes.
const (
	runOK         = 0
	runRefused    = 1
	runBadRequest = 2
	runOutput     = 3
	runInternal   = 4
)

type operation struct {
	kind, op string
	handler  Handler
}

var operations []operation

// Handle registers an operation. Call it from an init function.
func Handle(kind, op string, h Handler) {
	operations = append(operations, operation{kind, op, h})
}

// Serve answers one request frame, as run does in the host, and returns the answer frame and the
// code. Native tests of a module call it.
func Serve(frame []byte) (answer []byte, code int32) {
	code = serve(frame, func(b []byte) bool {
		answer = append(answer, b...)
		return true
	})
	return answer, code
}

// serve writes the answer through write, which reports false once the output limit is reached.
func serve(frame []byte, write func([]byte) bool) int32 {
	var req Request
	refuse := func(code int32, e *Error) int32 {
		if !write(errorHeader(req, e)) {
			return runOutput
		}
		return code
	}
	line := bytes.IndexByte(frame, '\n')
	if line < 0 {
		return refuse(runBadRequest, Refuse("bad_frame", NoOffset, "no header line"))
	}
	if !req.parse(frame[:line]) {
		return refuse(runBadRequest, Refuse("bad_frame", NoOffset, "header is not a JSON object of the expected shape"))
	}
	if req.ABI != abi {
		return refuse(runBadRequest, Refuse("bad_abi", NoOffset, "this module speaks "+abi))
	}
	req.Body = frame[line+1:]
	for _, o := range operations {
		if o.kind != req.Kind || o.op != req.Op {
			continue
		}
		ans, err := o.handler(req)
		var refusal *Error
		switch {
		case errors.As(err, &refusal):
			return refuse(runRefused, refusal)
		case err != nil:
			return refuse(runInternal, Refuse("internal", NoOffset, err.Error()))
		}
		if !write(resultHeader(req, ans.Fields)) {
			return runOutput
		}
		for _, part := range ans.Body {
			if len(part) > 0 && !write(part) {
				return runOutput
			}
		}
		return runOK
	}
	return refuse(runBadRequest, Refuse("unknown_op", NoOffset, "this module does not serve that kind and op"))
}
