//go:build bench

package bench

import (
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
)

func TestZZProf(t *testing.T) {
	runtime.MemProfileRate = 1024
	f := newFleet(t, 200).separate()
	var b any
	k, _ := measure(f, func() any {
		bb := f.backend(0)
		f.each(20, func(i int) {
			cfg, err := bb.RestConfig(t.Context(), f.profiles[i])
			if err != nil {
				t.Error(err)
				return
			}
			ask(t, cfg)
		})
		b = bb
		return bb
	})
	report("zz", k/200, 1)
	runtime.GC()
	w, _ := os.Create("/tmp/h1b/heap.pprof")
	_ = pprof.Lookup("heap").WriteTo(w, 0)
	_ = w.Close()
	runtime.KeepAlive(b)
}
