package importrule

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheRepositoryKeepsItsShape(t *testing.T) {
	root := os.DirFS("../..")
	in, err := inspect(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range in.breaches {
		t.Error(b)
	}
	// An inspection that saw nothing would also find nothing.
	for _, dir := range []string{"abi/canon", "abi/guest", "kernel/store", "policies", "cmd/importrule"} {
		if in.packages[dir] == nil {
			t.Errorf("%s was not inspected", dir)
		}
	}
}

func TestAPlantedBreachIsFound(t *testing.T) {
	cases := map[string]struct {
		file, text string
		rule       string // empty: no breach
	}{
		"kernel imports abi":                 {"kernel/a/a.go", imports("abi/canon"), ""},
		"kernel imports policies":            {"kernel/a/a.go", imports("policies"), ""},
		"kernel imports kernel":              {"kernel/a/a.go", imports("kernel/b"), ""},
		"kernel imports host":                {"kernel/a/a.go", imports("host/api"), "edge"},
		"kernel imports registry":            {"kernel/a/a.go", imports("registry"), "edge"},
		"kernel test imports host":           {"kernel/a/a_test.go", imports("host/api"), "edge"},
		"kernel imports plugins":             {"kernel/a/a.go", imports("plugins/readers/text"), "edge"},
		"registry imports policies":          {"registry/a.go", imports("policies"), "edge"},
		"registry imports abi":               {"registry/a.go", imports("abi/reason"), ""},
		"policies imports kernel":            {"policies/a.go", imports("kernel/store"), "edge"},
		"plugins import policies":            {"plugins/p/a.go", imports("policies"), "edge"},
		"plugins import host":                {"plugins/p/a.go", imports("host/wasm"), "edge"},
		"plugins import the guest SDK":       {"plugins/p/a.go", imports("abi/guest"), ""},
		"abi imports kernel":                 {"abi/a/a.go", imports("kernel/store"), "edge"},
		"host imports kernel":                {"host/a/a.go", imports("kernel/store"), ""},
		"host imports plugins":               {"host/a/a.go", imports("plugins/readers/text"), "edge"},
		"host imports cmd":                   {"host/a/a.go", imports("cmd/writ"), "edge"},
		"host imports the root":              {"host/a/a.go", imports(""), "edge"},
		"a build tag hides nothing":          {"kernel/a/a_windows.go", "//go:build windows\n\n" + imports("host/api"), "edge"},
		"guest imports a library":            {"abi/guest/a.go", "package guest\nimport _ \"golang.org/x/text\"\n", "guest"},
		"guest imports abi":                  {"abi/guest/a.go", imports("abi/canon"), "guest"},
		"guest imports the standard library": {"abi/guest/a.go", "package guest\nimport _ \"encoding/json\"\n", ""},
		"engine beneath the store":           {"kernel/store/badger/a.go", external("github.com/dgraph-io/badger/v4"), ""},
		"engine in the port":                 {"kernel/store/a.go", external("github.com/dgraph-io/badger/v4"), "engine"},
		"engine in the kernel":               {"kernel/ledger/a.go", external("github.com/dgraph-io/badger/v4/options"), "engine"},
		"engine in host":                     {"host/a/a.go", external("github.com/jackc/pgx/v5"), "engine"},
		"engine in a test":                   {"host/a/a_test.go", external("database/sql"), "engine"},
		"kernel opens files":                 {"kernel/a/a.go", external("os"), "sealed"},
		"kernel starts processes":            {"kernel/a/a.go", external("os/exec"), "sealed"},
		"kernel opens sockets":               {"kernel/a/a.go", external("net"), "sealed"},
		"kernel speaks HTTP":                 {"kernel/a/a.go", external("net/http"), "sealed"},
		"kernel makes system calls":          {"kernel/a/a.go", external("golang.org/x/sys/unix"), "sealed"},
		"kernel parses a URL":                {"kernel/a/a.go", external("net/url"), ""},
		"kernel test uses a directory":       {"kernel/a/a_test.go", external("os"), ""},
		"host opens files":                   {"host/a/a.go", external("os"), ""},
		"kernel draws randomness":            {"kernel/a/a.go", external("math/rand/v2"), "random"},
		"kernel draws strong randomness":     {"kernel/a/a.go", external("crypto/rand"), "random"},
		"kernel reads the clock":             {"kernel/a/a.go", "package a\nimport \"time\"\nvar t = time.Now()\n", "clock"},
		"kernel keeps a clock":               {"kernel/a/a.go", "package a\nimport \"time\"\nvar now = time.Now\n", "clock"},
		"kernel renames the clock":           {"kernel/a/a.go", "package a\nimport x \"time\"\nvar t = x.Since(x.Time{})\n", "clock"},
		"kernel hides the clock":             {"kernel/a/a.go", "package a\nimport . \"time\"\nvar t = Now()\n", "clock"},
		"kernel sets a timer":                {"kernel/a/a.go", "package a\nimport \"time\"\nvar t = time.NewTimer(time.Second)\n", "clock"},
		"the committer waits to retry":       {"kernel/store/a.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", ""},
		"the committer reads the clock":      {"kernel/store/a.go", "package a\nimport \"time\"\nvar t = time.Now()\n", "clock"},
		"a grant reaches no other package":   {"kernel/ledger/a.go", external("math/rand/v2"), "random"},
		"an engine reads its directory":      {"kernel/store/badger/a.go", external("os"), ""},
		"an engine opens sockets":            {"kernel/store/badger/a.go", external("net"), "sealed"},
		"a shared suite draws randomness":    {"kernel/store/storetest/a.go", external("math/rand/v2"), ""},
		"code imports a shared suite":        {"kernel/a/a.go", imports("kernel/store/storetest"), "testonly"},
		"a test imports a shared suite":      {"kernel/a/a_test.go", imports("kernel/store/storetest"), ""},
		"kernel names a duration":            {"kernel/a/a.go", "package a\nimport \"time\"\nconst d = 5 * time.Second\n", ""},
		"an unknown folder":                  {"internal/a.go", "package a\n", "layout"},
		"an unknown file":                    {"NOTES.md", "", "layout"},
		"Go code in the root":                {"main.go", "package main\n", "layout"},
		"build output":                       {"bin/writ", "", ""},
		"no doc.go":                          {"kernel/b/b.go", "package b\n", "doc"},
		"doc.go without a comment":           {"kernel/b/doc.go", "package b\n", "doc"},
		"generated code alone":               {"kernel/b/b.pb.go", "// Code generated by x. DO NOT EDIT.\n\npackage b\n", ""},
		"test data is no code":               {"kernel/a/testdata/x/x.go", external("os"), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{c.file: {Data: []byte(c.text)}}
			if c.rule != "doc" && strings.HasSuffix(c.file, ".go") && strings.Contains(c.file, "/") {
				doc := c.file[:strings.LastIndex(c.file, "/")] + "/doc.go"
				tree[doc] = &fstest.MapFile{Data: []byte("// Package a is documented.\npackage a\n")}
			}
			in, err := inspect(tree)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.rule == "" && len(in.breaches) > 0:
				t.Errorf("unexpected: %v", in.breaches)
			case c.rule != "" && (len(in.breaches) != 1 || in.breaches[0].rule != c.rule):
				t.Errorf("got %v, want one breach of %s", in.breaches, c.rule)
			}
		})
	}
}

func imports(own string) string {
	return external(strings.TrimSuffix(module+"/"+own, "/"))
}

func external(imported string) string {
	return "package a\nimport _ \"" + imported + "\"\n"
}
