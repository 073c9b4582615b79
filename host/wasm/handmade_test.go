package wasm

// Hand-made modules: the smallest bytes that do one thing.

const (
	opUnreachable = "\x00"
	opLoopForever = "\x03\x40\x0c\x00\x0b\x00" // loop; br 0; end; unreachable
)

type handmade struct {
	imports []string // encoded import entries
	noRun   bool
	noMark  bool
	noMem   bool
	start   bool
	memory  string // limits of the memory; 1 page when empty
	table   string // encoded table section content
	run     string // body of run, without the final end; returns 0 when empty
	chain   int    // run calls a chain of this many functions, each calling the next twice
}

func (h handmade) bytes() []byte {
	// Types: 0 () -> i32, 1 () -> (), 2 (i32, i32) -> ().
	out := "\x00asm\x01\x00\x00\x00" + sec(1, vec("\x60\x00\x01\x7f", "\x60\x00\x00", "\x60\x02\x7f\x7f\x00"))
	if len(h.imports) > 0 {
		out += sec(2, vec(h.imports...))
	}
	run, mark, chain := len(h.imports), len(h.imports)+1, len(h.imports)+2
	types, bodies := []string{"\x00", "\x01"}, []string{h.run, ""}
	if h.run == "" {
		bodies[0] = "\x41\x00" // i32.const 0
	}
	if h.chain > 0 {
		bodies[0] = call(chain) + "\x41\x00"
		for i := range h.chain {
			types = append(types, "\x01")
			body := ""
			if i+1 < h.chain {
				body = call(chain+i+1) + call(chain+i+1)
			}
			bodies = append(bodies, body)
		}
	}
	out += sec(3, vec(types...))
	if h.table != "" {
		out += sec(4, h.table)
	}
	memory := h.memory
	if memory == "" {
		memory = "\x00\x01"
	}
	out += sec(5, vec(memory))
	var exports []string
	if !h.noRun {
		exports = append(exports, name("run")+"\x00"+leb(run))
	}
	if !h.noMark {
		exports = append(exports, name("writ_abi_1")+"\x00"+leb(mark))
	}
	if !h.noMem {
		exports = append(exports, name("memory")+"\x02\x00")
	}
	out += sec(7, vec(exports...))
	if h.start {
		out += sec(8, leb(mark))
	}
	for i, b := range bodies {
		bodies[i] = leb(len(b)+2) + "\x00" + b + "\x0b"
	}
	return []byte(out + sec(10, vec(bodies...)))
}

func leb(n int) string {
	if n < 0x80 {
		return string([]byte{byte(n)})
	}
	return string([]byte{byte(n) | 0x80}) + leb(n>>7)
}

func name(s string) string            { return leb(len(s)) + s }
func sec(id byte, body string) string { return string([]byte{id}) + leb(len(body)) + body }
func call(f int) string               { return "\x10" + leb(f) }

func vec(items ...string) string {
	out := leb(len(items))
	for _, i := range items {
		out += i
	}
	return out
}

func importFunc(module, field string) string { return name(module) + name(field) + "\x00\x01" }
