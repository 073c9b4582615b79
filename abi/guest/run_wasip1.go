package guest

import "unsafe"

//go:wasmimport writ input_len
func inputLen() int32

//go:wasmimport writ input_read
func inputRead(ptr unsafe.Pointer, n int32)

//go:wasmimport writ output_write
func outputWrite(ptr unsafe.Pointer, n int32) int32

//go:wasmimport writ log
func hostLog(ptr unsafe.Pointer, n int32)

// marker is never called: that it is exported says which ABI the module speaks.
//
//go:wasmexport writ_abi_1
func marker() {}

//go:wasmexport run
func run() int32 {
	frame := make([]byte, inputLen())
	if len(frame) > 0 {
		inputRead(unsafe.Pointer(unsafe.SliceData(frame)), int32(len(frame)))
	}
	return serve(frame, func(b []byte) bool {
		return outputWrite(unsafe.Pointer(unsafe.SliceData(b)), int32(len(b))) == 0
	})
}

// Log adds a line to the log that the host keeps with the call. The host cuts and escapes it.
func Log(s string) {
	line := append([]byte(s), '\n')
	hostLog(unsafe.Pointer(unsafe.SliceData(line)), int32(len(line)))
}
