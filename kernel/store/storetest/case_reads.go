package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

var reads = []rule{
	{"an absent key reads as nil", func(t *testing.T, w *world) {
		w.want("absent", "")
		w.update(func(tx store.Tx) error {
			v, err := tx.Get([]byte("absent"))
			if v != nil {
				t.Errorf("got %q", v)
			}
			return err
		})
	}},
	{"a transition reads its own writes and deletes", func(t *testing.T, w *world) {
		w.set("a", "1")
		w.update(func(tx store.Tx) error {
			check := func(want string) {
				if v, err := tx.Get([]byte("a")); err != nil || string(v) != want {
					t.Errorf("got %q, %v, want %q", v, err, want)
				}
			}
			check("1")
			err := errors.Join(tx.Set([]byte("a"), []byte("2")))
			check("2")
			err = errors.Join(err, tx.Delete([]byte("a")))
			check("")
			return errors.Join(err, tx.Set([]byte("a"), []byte("3")))
		})
		w.want("a", "3")
	}},
	{"the caller may change what it gave to Set", func(t *testing.T, w *world) {
		w.update(func(tx store.Tx) error {
			k, v := []byte("key"), []byte("value")
			err := tx.Set(k, v)
			k[0], v[0] = 'x', 'x'
			return err
		})
		w.want("key", "value")
	}},
	{"what a scan handed out stays valid until the end", func(t *testing.T, w *world) {
		w.update(func(tx store.Tx) error {
			for i := range 50 {
				if err := tx.Set(fmt.Appendf(nil, "k%02d", i), fmt.Appendf(nil, "v%02d", i)); err != nil {
					return err
				}
			}
			return nil
		})
		err := w.View(background, func(r store.Reader) error {
			var ks, vs [][]byte
			err := r.Scan(nil, nil, func(k, v []byte) error {
				ks, vs = append(ks, k), append(vs, v)
				return nil
			})
			for i := range ks {
				if string(ks[i]) != fmt.Sprintf("k%02d", i) || string(vs[i]) != fmt.Sprintf("v%02d", i) {
					t.Errorf("row %d became %q=%q", i, ks[i], vs[i])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}},
	{"a scan merges committed rows with own writes and deletes in key order", func(t *testing.T, w *world) {
		for _, k := range []string{"p/b", "p/d", "p/f", "p/h", "o", "q"} {
			w.set(k, "old")
		}
		w.update(func(tx store.Tx) error {
			err := errors.Join(
				tx.Set([]byte("p/a"), []byte("new")), tx.Delete([]byte("p/b")), tx.Set([]byte("p/d"), []byte("new")),
				tx.Set([]byte("p/e"), []byte("new")), tx.Delete([]byte("p/e")), tx.Set([]byte("p/z"), []byte("new")))
			var got []string
			err = errors.Join(err, tx.Scan([]byte("p/"), store.PrefixEnd([]byte("p/")), collect(&got)))
			want := []string{"p/a=new", "p/d=new", "p/f=old", "p/h=old", "p/z=new"}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			return err
		})
	}},
	{"a scan agrees with a sorted map over every layer", scansAgreeWithModel},
	{"a scan shows the state it started from", func(t *testing.T, w *world) {
		w.set("k1", "old")
		w.set("k3", "old")
		w.update(func(tx store.Tx) error {
			var got []string
			add := collect(&got)
			err := tx.Set([]byte("k2"), []byte("own"))
			err = errors.Join(err, tx.Scan([]byte("k"), []byte("l"), func(k, v []byte) error {
				return errors.Join(add(k, v), tx.Delete([]byte("k2")), tx.Set([]byte("k3"), []byte("new")),
					tx.Set(append(bytes.Clone(k), 'x'), []byte("new")))
			}))
			if want := []string{"k1=old", "k2=own", "k3=old"}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			return err
		})
	}},
	{"scans nest", func(t *testing.T, w *world) {
		for _, k := range []string{"a1", "a2", "b1", "b2"} {
			w.set(k, "x")
		}
		w.update(func(tx store.Tx) error {
			pairs := 0
			err := tx.Scan([]byte("a"), []byte("b"), func(_, _ []byte) error {
				n, err := count(tx, "b")
				pairs += n
				return err
			})
			if pairs != 4 {
				t.Errorf("%d pairs, want 4", pairs)
			}
			return err
		})
	}},
	{"ErrStop ends a scan without an error and any other error comes through", func(t *testing.T, w *world) {
		w.set("a", "1")
		w.set("c", "1")
		own := errors.New("own")
		w.update(func(tx store.Tx) error {
			err := errors.Join(tx.Set([]byte("b"), []byte("1")), tx.Set([]byte("d"), []byte("1")))
			for stopAt := range 4 {
				for _, result := range []error{store.ErrStop, own} {
					seen := 0
					got := tx.Scan(nil, nil, func(_, _ []byte) error {
						if seen++; seen > stopAt {
							return result
						}
						return nil
					})
					if seen != stopAt+1 || (result == own) != errors.Is(got, own) || (result == store.ErrStop && got != nil) {
						t.Errorf("stop at %d with %v: %d rows, error %v", stopAt, result, seen, got)
					}
				}
			}
			return err
		})
	}},
	{"any key bytes are a key", func(t *testing.T, w *world) {
		keys := []string{"\x00", "\x00\x00", "\x00sys", "\x00sys0", "!badger!txn", "\xff", "\xff\xff", "a\x00b",
			string(bytes.Repeat([]byte{0xff}, store.MaxKey))}
		for _, k := range keys {
			w.set(k, k)
		}
		slices.Sort(keys)
		var got []string
		err := w.View(background, func(r store.Reader) error {
			return r.Scan(nil, nil, func(k, v []byte) error {
				if !bytes.Equal(k, v) {
					t.Errorf("%q holds %q", k, v)
				}
				got = append(got, string(k))
				return nil
			})
		})
		if err != nil || !slices.Equal(got, keys) {
			t.Errorf("got %q, %v", got, err)
		}
	}},
}

// scansAgreeWithModel builds every kind of layer at random and compares.
func scansAgreeWithModel(t *testing.T, w *world) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	model := map[string]string{}
	key := func() string { return fmt.Sprintf("k%02d", rng.IntN(40)) }
	scribble := func(tx store.Tx, m map[string]string) (err error) {
		for range rng.IntN(12) {
			if k := key(); rng.IntN(3) == 0 {
				err = errors.Join(err, tx.Delete([]byte(k)))
				delete(m, k)
			} else {
				m[k] = fmt.Sprint(rng.Uint32())
				err = errors.Join(err, tx.Set([]byte(k), []byte(m[k])))
			}
		}
		return err
	}
	compare := func(r store.Reader, m map[string]string) error {
		var from, to []byte
		if rng.IntN(4) > 0 {
			from = []byte(key())
		}
		if rng.IntN(4) > 0 {
			to = []byte(key())
		}
		want := []string{}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if k >= string(from) && (to == nil || k < string(to)) {
				want = append(want, k+"="+m[k])
			}
		}
		most := rng.IntN(45)
		want = want[:min(most, len(want))]
		got := []string{}
		add := collect(&got)
		err := r.Scan(from, to, func(k, v []byte) error {
			if len(got) == most {
				return store.ErrStop
			}
			return add(k, v)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("scan [%s,%s) got\n%v, want\n%v", from, to, got, want)
		}
		return err
	}
	for range 30 {
		outcomes := w.group(
			func(tx store.Tx) error { return scribble(tx, model) },
			func(tx store.Tx) error {
				if err := errors.Join(compare(tx, model), scribble(tx, model)); err != nil {
					return err
				}
				return errors.Join(compare(tx, model), compare(tx, model))
			},
			func(tx store.Tx) error {
				undone := maps.Clone(model)
				return errors.Join(scribble(tx, undone), compare(tx, undone), errors.New("undo"))
			})
		if err := errors.Join(outcomes[:2]...); err != nil {
			t.Fatal(err)
		}
		if err := w.View(background, func(r store.Reader) error { return compare(r, model) }); err != nil {
			t.Fatal(err)
		}
	}
}
