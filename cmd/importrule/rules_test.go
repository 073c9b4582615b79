package importrule

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/writ-kernel/writ"

// mayImport says which of Writ's folders a folder may import, beside itself.
var mayImport = map[string][]string{
	"abi":      {},
	"policies": {"abi"},
	"registry": {"abi"},
	"plugins":  {"abi"},
	"kernel":   {"abi", "policies"},
	"host":     {"abi", "policies", "registry", "kernel"},
	"cmd":      {"abi", "policies", "registry", "kernel", "host"},
}

// rootFiles may stand beside the folders; so may dotfiles.
var rootFiles = []string{
	"README.md", "LICENSE", "SECURITY.md", "CONTRIBUTING.md", "RATIONALE.md",
	"Makefile", "go.mod", "go.sum", "tools.mod", "tools.sum",
}

// engines are the database engines a store could be tempted to use, by import path prefix.
var engines = []string{
	"github.com/dgraph-io", "github.com/jackc", "github.com/lib/pq", "github.com/riverqueue",
	"database/sql", "go.etcd.io", "github.com/cockroachdb", "github.com/syndtr/goleveldb",
	"modernc.org/sqlite", "github.com/mattn/go-sqlite3", "zombiezen.com/go/sqlite", "gorm.io",
}

// outside are packages with which code could open a file, a socket or a process.
var outside = []string{
	"os", "net", "syscall", "io/ioutil", "plugin", "runtime/cgo", "C",
	"golang.org/x/sys", "golang.org/x/net", "google.golang.org/grpc", "connectrpc.com",
	"github.com/hashicorp/go-plugin",
}

// harmless are packages below an outside one that only parse.
var harmless = []string{"net/url", "net/netip", "net/mail", "net/textproto"}

var randomness = []string{"math/rand", "crypto/rand"}

// clock is everything in package time that reads or waits for a clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// granted are the few things a kernel package may do all the same, each with its reason.
var granted = map[string]map[string]string{
	"kernel/store": {
		"time.Sleep":   "the committer waits between two tries of a conflicting batch, outside any transition",
		"math/rand/v2": "that wait is jittered, so that two nodes do not meet again",
	},
	"kernel/store/badger": {
		"os":      "an embedded engine is a directory: it is verified before it opens, and says who holds it",
		"syscall": "it is verified under the lock that the engine itself takes",
	},
}

type breach struct {
	rule string // short name, one per rule
	at   string // file, or file:line
	what string
}

func (b breach) String() string { return fmt.Sprintf("%s: %s: %s", b.at, b.rule, b.what) }

type inspector struct {
	tree     fs.FS
	breaches []breach
	packages map[string]*pkg // by folder
}

type pkg struct {
	handwritten, documented bool
}

func inspect(tree fs.FS) (*inspector, error) {
	in := &inspector{tree: tree, packages: map[string]*pkg{}}
	if err := in.root(); err != nil {
		return nil, err
	}
	for folder := range mayImport {
		if _, err := fs.Stat(tree, folder); err != nil {
			continue // a folder appears when it has something to hold
		}
		if err := fs.WalkDir(tree, folder, in.visit); err != nil {
			return nil, err
		}
	}
	for dir, p := range in.packages {
		if p.handwritten && !p.documented {
			in.report("doc", dir, "no doc.go with a package comment")
		}
	}
	slices.SortFunc(in.breaches, func(a, b breach) int { return strings.Compare(a.String(), b.String()) })
	return in, nil
}

func (in *inspector) report(rule, at, format string, args ...any) {
	in.breaches = append(in.breaches, breach{rule, at, fmt.Sprintf(format, args...)})
}

// root checks what stands beside the folders. What .gitignore names is no part of the repository.
func (in *inspector) root() error {
	entries, err := fs.ReadDir(in.tree, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		_, folder := mayImport[name]
		switch {
		case strings.HasPrefix(name, "."), name == "bin", path.Ext(name) == ".test", path.Ext(name) == ".out":
		case e.IsDir() && !folder:
			in.report("layout", name, "a folder that the layout does not list")
		case !e.IsDir() && !slices.Contains(rootFiles, name):
			in.report("layout", name, "a file that the layout does not list")
		}
	}
	return nil
}

func (in *inspector) visit(file string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		if d.Name() == "testdata" {
			return fs.SkipDir
		}
		return nil
	}
	if path.Ext(file) != ".go" {
		return nil
	}
	text, err := fs.ReadFile(in.tree, file)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	in.note(file, parsed)
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		in.edge(file, at(set, spec), imported)
		in.engine(file, at(set, spec), imported)
		in.sealed(file, at(set, spec), imported)
	}
	in.timeless(file, set, parsed)
	return nil
}

// note remembers whether the folder holds code of its own and a doc.go.
func (in *inspector) note(file string, parsed *ast.File) {
	dir := path.Dir(file)
	p := in.packages[dir]
	if p == nil {
		p = &pkg{}
		in.packages[dir] = p
	}
	if !ast.IsGenerated(parsed) {
		p.handwritten = true
	}
	if path.Base(file) == "doc.go" && strings.TrimSpace(parsed.Doc.Text()) != "" {
		p.documented = true
	}
}

// edge checks an import of one of Writ's own packages, tests included.
func (in *inspector) edge(file, where, imported string) {
	from := top(file)
	guest := under(file, "abi/guest")
	if guest && strings.Contains(firstElement(imported), ".") && !under(imported, module+"/abi/guest") {
		in.report("guest", where, "the guest SDK has no dependencies, but imports %s", imported)
	}
	if !under(imported, module) {
		return
	}
	if testPackage(imported) && !testCode(file) {
		in.report("testonly", where, "only tests may import %s", imported)
	}
	to := top(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
	if to != from && !slices.Contains(mayImport[from], to) {
		in.report("edge", where, "%s may not import %s", from, imported)
	}
}

// engine lets only the packages beneath kernel/store name a database engine.
func (in *inspector) engine(file, where, imported string) {
	if strings.HasPrefix(path.Dir(file), "kernel/store/") {
		return
	}
	if matches(imported, engines) {
		in.report("engine", where, "only kernel/store/* may import %s", imported)
	}
}

// sealed keeps files, sockets, processes and randomness out of the kernel.
func (in *inspector) sealed(file, where, imported string) {
	if !kernelCode(file) || granted[path.Dir(file)][imported] != "" {
		return
	}
	if matches(imported, outside) && !matches(imported, harmless) {
		in.report("sealed", where, "the kernel opens no file and no socket, but imports %s", imported)
	}
	if matches(imported, randomness) {
		in.report("random", where, "the kernel draws no randomness, but imports %s", imported)
	}
}

// timeless keeps the clock out of the kernel: the committer hands a time in.
func (in *inspector) timeless(file string, set *token.FileSet, parsed *ast.File) {
	if !kernelCode(file) {
		return
	}
	var name string
	for _, spec := range parsed.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		name = "time"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			in.report("clock", at(set, spec), "a dot import hides which clock is read")
		}
	}
	if name == "" {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok || x.Name != name || granted[path.Dir(file)]["time."+sel.Sel.Name] != "" {
			return true
		}
		if slices.Contains(clock, sel.Sel.Name) {
			in.report("clock", at(set, sel), "the kernel has no clock, but uses time.%s", sel.Sel.Name)
		}
		return true
	})
}

func kernelCode(file string) bool { return top(file) == "kernel" && !testCode(file) }

// testCode reports whether the file only serves tests: a test, or a shared suite such as storetest.
// testCode is a test file, or anything below a test package.
func testCode(file string) bool {
	return strings.HasSuffix(file, "_test.go") || slices.ContainsFunc(strings.Split(path.Dir(file), "/"), testPackage)
}

func testPackage(p string) bool { return strings.HasSuffix(p, "test") }

func at(set *token.FileSet, n ast.Node) string {
	p := set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func firstElement(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

func top(file string) string { return firstElement(file) }

// under reports whether p is root or lies beneath it.
func under(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func matches(imported string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return under(imported, r) })
}
