package wasm

import (
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

const workerSocket = 3

// WorkerMain makes this process a worker when it was started as one, and then returns true when the
// host is gone. Otherwise it returns false at once and changes nothing. Every main and TestMain of a
// program that makes a Pool calls it before anything else and returns when it returns true.
func WorkerMain() bool {
	if len(os.Args) != 1 || os.Args[0] != workerName {
		return false
	}
	conn, err := workerConn()
	if err == nil {
		err = serveWorker(conn)
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, "wasm worker: "+err.Error()+"\n")
		os.Exit(1)
	}
	return true
}

func workerConn() (net.Conn, error) {
	// A core file would hold source text.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.CloseOnExec(workerSocket)
	f := os.NewFile(workerSocket, "host")
	defer f.Close()
	return net.FileConn(f)
}

// serveWorker answers frames until the host closes the socket. A second goroutine reads, so that the
// process ends with the host even while a guest runs.
func serveWorker(conn net.Conn) error {
	type frame struct {
		kind    byte
		payload []byte
	}
	frames := make(chan frame)
	go func() {
		for {
			kind, payload, err := readFrame(conn, maxHostFrame)
			if err != nil {
				if errors.Is(err, io.EOF) {
					os.Exit(0)
				}
				_, _ = io.WriteString(os.Stderr, "wasm worker: "+err.Error()+"\n")
				os.Exit(1)
			}
			frames <- frame{kind, payload}
		}
	}()
	w := worker{conn: conn}
	for f := range frames {
		if err := w.handle(f.kind, f.payload); err != nil {
			return err
		}
	}
	return nil
}

type worker struct {
	conn   net.Conn
	engine *engine
}

func (w *worker) handle(kind byte, payload []byte) (err error) {
	switch kind {
	case frameHello:
		var meta hello
		if err := unmarshalExact(payload, &meta); err != nil {
			return err
		}
		w.engine, err = newEngine(meta.CacheDir)
		return err
	case frameModule:
		var meta moduleMeta
		module, err := splitPayload(payload, &meta)
		if err != nil {
			return err
		}
		loaded := loadedMeta{Engine: engineName()}
		if err := w.engine.load(meta.SHA256, module); err != nil {
			loaded.Refused = detailOf(err)
		} else if err := w.engine.prepare(meta.SHA256); err != nil {
			loaded.Refused = detailOf(err)
		}
		return writeFrame(w.conn, frameLoaded, loaded)
	case frameCall:
		var meta callMeta
		request, err := splitPayload(payload, &meta)
		if err != nil {
			return err
		}
		answer, c := w.engine.call(meta, request)
		answer.LogBytes, answer.OutputBytes = len(c.log), len(c.output)
		if err := writeFrame(w.conn, frameAnswer, answer, c.log, c.output); err != nil {
			return err
		}
		if answer.Fault != "" {
			return nil // the host discards this worker
		}
		return w.engine.prepare(meta.SHA256)
	}
	return errFrame
}
