package wasm

import (
	"net"
	"testing"
	"time"
)

// A worker is believed about nothing: these play one that lies.
func TestWorkersThatLieAreRefused(t *testing.T) {
	for name, answer := range map[string]func(net.Conn) error{
		"wrong type":      func(c net.Conn) error { return writeFrame(c, frameLoaded, answerMeta{}) },
		"oversized frame": func(c net.Conn) error { _, err := c.Write([]byte{0xff, 0xff, 0xff, 0xff, frameAnswer}); return err },
		"sizes do not add up": func(c net.Conn) error {
			return writeFrame(c, frameAnswer, answerMeta{LogBytes: 1, OutputBytes: 1}, []byte("abc"))
		},
		"negative size": func(c net.Conn) error {
			return writeFrame(c, frameAnswer, answerMeta{LogBytes: -1, OutputBytes: 4}, []byte("abc"))
		},
		"log over its limit": func(c net.Conn) error {
			return writeFrame(c, frameAnswer, answerMeta{LogBytes: 3}, []byte("abc"))
		},
		"output over its limit": func(c net.Conn) error {
			return writeFrame(c, frameAnswer, answerMeta{OutputBytes: 5}, []byte("abcde"))
		},
		"no meta": func(c net.Conn) error { _, err := c.Write([]byte{2, 0, 0, 0, frameAnswer, 1, 2}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			host, remote, err := socketPair()
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			worker, err := net.FileConn(remote)
			remote.Close()
			if err != nil {
				t.Fatal(err)
			}
			m := Module{SHA256: "x"}
			w := &process{conn: host, loaded: map[string]bool{"x": true}}
			sent := make(chan error, 1)
			go func() {
				defer worker.Close()
				if _, _, err := readFrame(worker, maxHostFrame); err != nil {
					sent <- err
					return
				}
				sent <- answer(worker)
			}()
			limits := Limits{Wall: 10 * time.Second, OutputBytes: 4, LogBytes: 2, MemoryBytes: 1}
			_, err = (&Pool{}).exchange(w, m, limits, []byte("{}\n"), nil)
			wantFault(t, failed(err), FaultFrame)
			host.Close()
			<-sent
		})
	}
}
