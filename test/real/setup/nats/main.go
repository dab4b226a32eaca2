// Command nats runs NATS' own server, with its own options: what the program nats-server does when it is started with a
// configuration.
//
//	nats -c FILE
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	usage := func() {
		fmt.Fprintln(os.Stderr, "usage: nats -c FILE, and the other options of nats-server")
		os.Exit(2)
	}
	set := flag.NewFlagSet("nats", flag.ExitOnError)
	set.Usage = usage
	version := func() { fmt.Println(server.VERSION) }
	options, err := server.ConfigureOptions(set, os.Args[1:], version, usage, usage)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	if options == nil {
		return
	}
	running, err := server.NewServer(options)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	running.ConfigureLogger()
	if err := server.Run(running); err != nil {
		server.PrintAndDie(err.Error())
	}
	running.WaitForShutdown()
}
