// Package record owns how rows lie in the store: the key layout and the encoding of every stored
// message of writ.store.v1. It decides nothing and checks no authority.
//
// Keys are text: table, then parts joined by "/". Parts never hold "/" because IDs and names are
// made of letters, digits, ".", "_" and "-", and anything a caller chose freely is hashed first.
// Numbers that must sort are fixed-width decimals.
package record
