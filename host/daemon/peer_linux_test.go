package daemon_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/writ-kernel/writ/host/daemon"
)

// TestForeignUidIsRefusedByTheKernelsWord connects as another uid, on a thread of its own: the
// system keeps a thread's uid, and tells it to the server, connection by connection.
func TestForeignUidIsRefusedByTheKernelsWord(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another uid")
	}
	r := serve(t, daemon.Config{})
	for _, open := range []struct {
		path string
		mode os.FileMode
	}{{r.dir, 0o755}, {r.socket, 0o666}} { // so that only the check stands in the way
		if err := os.Chmod(open.path, open.mode); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() (int, string, error) {
		conn, err := net.Dial("unix", r.socket)
		if err != nil {
			return 0, "", err
		}
		defer conn.Close()
		const body = `{"operation_id":"a"}`
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", getOperation, len(body), body)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, "", err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return res.StatusCode, string(text), err
	}
	type answer struct {
		status int
		text   string
		err    error
	}
	answers := make(chan answer)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 12345, ^uintptr(0)); errno != 0 {
			answers <- answer{err: errno}
			return
		}
		status, text, err := ask()
		answers <- answer{status, text, err}
	}()
	got := <-answers
	if got.err != nil || got.status != 403 || !strings.Contains(got.text, "permission_denied") || !strings.Contains(got.text, "12345") {
		t.Errorf("uid 12345: %+v", got)
	}
	if status, text, err := ask(); err != nil || status != 200 {
		t.Errorf("the owner: %d %s %v", status, text, err)
	}
}
