module github.com/writ-kernel/writ/abi/guest

go 1.26.0
