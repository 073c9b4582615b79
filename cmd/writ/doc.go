// Command writ is the client and the server of Writ in one binary.
//
// Every command talks to the process that holds the data directory, through its unix socket. Where
// no process holds it, the command takes the lock itself, serves the socket while it lives, and is
// its own client: there is one way to reach the kernel, and it is the public API.
//
// It owns flags, words and exit codes. It must never reach around the API, and it checks input early
// only with the kernel's own checks, so that bad input leaves nothing behind, not even an empty
// data directory.
package main
