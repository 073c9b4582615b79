// Command hostile is a module that misbehaves as its input says.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/writ-kernel/writ/abi/guest"
)

//go:wasmimport writ output_write
func outputWrite(ptr unsafe.Pointer, n int32) int32

//go:wasmimport writ input_read
func inputRead(ptr unsafe.Pointer, n int32)

func init() {
	if strings.Contains(os.Getenv("PATH"), "/") {
		panic("the environment is there")
	}
	guest.Handle("reader", "structure", serve)
}

func main() {}

var (
	kept  [][]byte
	calls int
)

func serve(req guest.Request) (guest.Answer, error) {
	verb, rest, _ := strings.Cut(string(req.Body), " ")
	switch verb {
	case "echo":
		return guest.Answer{Body: [][]byte{[]byte(rest)}}, nil
	case "count":
		calls++
		return guest.Answer{Body: [][]byte{[]byte(fmt.Sprint(calls))}}, nil
	case "loop":
		for {
		}
	case "flood":
		return guest.Answer{Body: [][]byte{make([]byte, req.Limits.OutputBytes+1)}}, nil
	case "flood-on":
		b := make([]byte, 1<<20)
		for range 1000 {
			outputWrite(unsafe.Pointer(&b[0]), int32(len(b)))
		}
		return guest.Answer{}, nil
	case "panic":
		panic("boom \x1b[31m")
	case "exit":
		os.Exit(0)
	case "hoard":
		for {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 512 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	case "overread":
		var b [8]byte
		inputRead(unsafe.Pointer(&b[0]), 1<<30)
	case "log":
		for range 1000 {
			guest.Log("\x1b[2Jline of log\u202e")
		}
		return guest.Answer{}, nil
	case "refuse":
		return guest.Answer{}, guest.Refuse("bad_thing", 3, "no \x1b[2J")
	case "far":
		return guest.Answer{}, guest.Refuse("bad_thing", 1<<40, "")
	case "fault":
		return guest.Answer{}, fmt.Errorf("lost")
	case "raw":
		b := []byte(rest)
		outputWrite(unsafe.Pointer(&b[0]), int32(len(b)))
		return guest.Answer{}, nil
	case "look":
		return look()
	}
	return guest.Answer{}, guest.Refuse("bad_input", 0, "")
}

// look reports all that it can see of the world.
func look() (guest.Answer, error) {
	begin := time.Now()
	time.Sleep(time.Hour)
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	_, fileErr := os.ReadFile("/etc/passwd")
	_, writeErr := os.Create("/tmp/writ-hostile")
	_, dirErr := os.ReadDir("/")
	_, dialErr := net.Dial("tcp", "127.0.0.1:1")
	_, stdinErr := os.Stdin.Read(random[:0:0])
	_, stdoutErr := os.Stdout.WriteString("x")
	seen := fmt.Sprintln(os.Environ(), len(os.Args), begin.UTC().Format(time.RFC3339Nano), time.Since(begin), hex.EncodeToString(random),
		fileErr != nil, writeErr != nil, dirErr != nil, dialErr != nil, stdinErr == nil, stdoutErr != nil)
	m := map[int]int{}
	for i := range 100 {
		m[i] = i
	}
	for k := range m {
		seen += fmt.Sprint(k, " ")
	}
	return guest.Answer{Body: [][]byte{[]byte(seen)}}, nil
}
