// Package client talks to the process that holds a data directory, through its unix socket.
//
// It owns the connection and the judgement whether a failed call may be made again elsewhere. It
// must never open the data directory's files nor decide anything a server would: a client that
// checks more than it needs to show an error early disagrees with the server one day.
package client
