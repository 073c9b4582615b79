package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", "bin", "folder that receives plugins/ and writ")
	writ := flag.Bool("writ", false, "also build the writ binary, pinned to the lock")
	var extra extras
	flag.Var(&extra, "extra", "add a plugin that is not first-party, as kind:name=importpath (may be repeated)")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "build: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*out, *writ, extra); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// extras is the value of -extra.
type extras []plugin

func (e *extras) String() string { return "" }

func (e *extras) Set(s string) error {
	id, importPath, ok := strings.Cut(s, "=")
	kind, name, colon := strings.Cut(id, ":")
	if !ok || !colon || kind == "" || name == "" || importPath == "" {
		return fmt.Errorf("%q is not kind:name=importpath", s)
	}
	*e = append(*e, plugin{manifest: extraManifest(kind, name), pkg: importPath})
	return nil
}

func run(out string, writ bool, extra []plugin) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	dir := filepath.Join(out, "plugins")
	if err := os.MkdirAll(filepath.Join(dir, workDir), 0o755); err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(dir, workDir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()

	plugins, err := discover(root)
	if err != nil {
		return err
	}
	b := builder{root: root, dir: dir}
	digest, err := b.build(append(plugins, extra...))
	if err != nil || !writ {
		return err
	}
	return b.goBuild(filepath.Join(out, "writ"), "./cmd/writ", nil,
		"-ldflags", "-X github.com/writ-kernel/writ/registry.BuildLock="+digest)
}
