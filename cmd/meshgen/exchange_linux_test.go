package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutExchange is the command on a kernel that cannot exchange two names: the
// process forbids itself renameat2 with that flag, for good.
func withoutExchange() {
	runtime.LockOSThread()
	if err := forbidExchange(); err != nil {
		fmt.Fprintln(os.Stderr, "forbid the exchange of names:", err)
		os.Exit(int(failed))
	}
	if err := unix.Renameat2(unix.AT_FDCWD, "/none", unix.AT_FDCWD, "/none", unix.RENAME_EXCHANGE); !errors.Is(err, unix.ENOSYS) {
		fmt.Fprintln(os.Stderr, "names can still be exchanged:", err)
		os.Exit(int(failed))
	}
	main()
}

// forbidExchange is a seccomp filter for every thread. The flags are the fifth of
// the arguments, which begin at byte 16 of what the filter reads.
func forbidExchange() error {
	const number, flags = 0, 16 + 4*8
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	unless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: skip, K: value}
	}
	answer := func(with uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with} }
	filter := []unix.SockFilter{
		load(number), unless(unix.SYS_RENAMEAT2, 3),
		load(flags), unless(unix.RENAME_EXCHANGE, 1),
		answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		answer(unix.SECCOMP_RET_ALLOW),
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}
