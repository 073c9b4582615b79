package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the real binary, pinned to the plugins that were built with it, over the real
// kernel. It is built here, and not this test's own binary, because under the race detector a
// sandbox would spend its whole wall limit on compiling.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "run", "../../plugins/build", "-out", bin, "-writ")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(env *testscript.Env) error { return setUpScript(env, bin) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "field": scriptField, "waitfor": scriptWaitFor,
		},
	})
}

func setUpScript(env *testscript.Env, bin string) error {
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("D", filepath.Join(env.WorkDir, "d"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("LONG", strings.Repeat("q", 2049))
	for name, content := range map[string]string{
		"big":    strings.Repeat("0123456789abcde\n", 65<<10/16),
		"utf8":   "good\nbad \xff byte\n",
		"nul":    "good\nbad \x00 byte\n",
		"crlf":   "\xef\xbb\xbfone\r\ntwo\r\n",
		"wide":   strings.Repeat(strings.Repeat("w", 99)+"\n", 50),
		"ok.md":  "# Leases\n\nA lease says who may act on a job. A lease ends with its time.\n\n# Fences\n\nA fence grows at every claim. A stale fence is refused.\n",
		"two.md": "# Money\n\nMoney is reserved before a call is made. A call that was contacted is never repeated.\n",
	} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return syscall.Mkfifo(filepath.Join(env.WorkDir, "fifo"), 0o600)
}

// scriptExits runs a program that must end with an exact code: exits CODE PROGRAM ARGS...
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

// scriptField checks one value of the JSON object on stdout: field PATH [VALUE]. A path is made of
// member names and indexes with dots between; without a value the field must be there; len counts.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: [!] field PATH [VALUE]")
	}
	var at any
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	decoder.UseNumber()
	ts.Check(decoder.Decode(&at))
	found := true
	for _, step := range strings.Split(args[0], ".") {
		switch value := at.(type) {
		case map[string]any:
			at, found = value[step]
		case []any:
			if step == "len" {
				at = len(value)
				break
			}
			i, err := strconv.Atoi(step)
			if found = err == nil && i < len(value); found {
				at = value[i]
			}
		default:
			found = false
		}
		if !found {
			break
		}
	}
	ok := found && (len(args) == 1 || fmt.Sprint(at) == args[1])
	if ok == neg {
		ts.Fatalf("%s is %v (found: %t)", args[0], at, found)
	}
}

// scriptWaitFor waits until a file exists.
func scriptWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 6000 {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s never came", args[0])
}
