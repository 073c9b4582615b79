package wasm

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestWorkersDieWithTheirHost(t *testing.T) {
	file := t.TempDir() + "/loop.wasm"
	if err := os.WriteFile(file, handmade{run: opLoopForever}.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	host := exec.Command("/proc/self/exe")
	host.Env = append(os.Environ(), hostMode+"="+file)
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	var pid int
	if _, scanErr := fmt.Sscan(line, &pid); err != nil || scanErr != nil {
		t.Fatal(line, err, scanErr)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatal(err)
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	waitGone(t, pid)
}

func TestAWorkerHasNoEnvironmentAndItsOwnGroup(t *testing.T) {
	t.Setenv("WRIT_SECRET_LOOKALIKE", "x")
	p := newPool(t, Config{Workers: 1})
	wantService(t, p, hostileModule(t))
	pid := p.pids()[0]
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(environ) != 0 {
		t.Errorf("environment %q, %v", environ, err)
	}
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("group %d, %v", group, err)
	}
	for _, fd := range []int{0, 1} {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
		if err == nil && target != "/dev/null" {
			t.Errorf("descriptor %d is %s", fd, target)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || strings.TrimRight(string(status), "\x00") != workerName {
		t.Errorf("command line %q, %v", status, err)
	}
}
