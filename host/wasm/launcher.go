package wasm

import (
	"os"
	"runtime"
)

// launcher starts processes from one thread that lives as long as the launcher, because the signal
// that ends a worker with its parent fires when the starting thread ends, not the process.
type launcher struct {
	jobs chan func()
	done chan struct{}
}

func newLauncher() *launcher {
	l := &launcher{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

func (l *launcher) start(path string, argv []string, attr *os.ProcAttr) (p *os.Process, err error) {
	ran := make(chan struct{})
	l.jobs <- func() {
		p, err = os.StartProcess(path, argv, attr)
		close(ran)
	}
	<-ran
	return p, err
}

func (l *launcher) close() {
	close(l.jobs)
	<-l.done
}
