package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd runs one member that forgets durability: a test's data need not survive a power cut.
func etcd() int {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	dir := flags.String("data-dir", "", "folder of the data")
	client := flags.String("listen-client-url", "", "URL to serve")
	peer := flags.String("listen-peer-url", "", "URL that a second member would use")
	_ = flags.Parse(os.Args[1:])

	config := embed.NewConfig()
	config.Dir = *dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls = []url.URL{parse(*client)}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{parse(*peer)}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.QuotaBackendBytes = 4 << 30
	// NewConfig leaves 0, and then every request is logged as slow.
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration

	server, err := embed.StartEtcd(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case <-stop:
		server.Close()
		return 0
	case err := <-server.Err():
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
}

func parse(text string) url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(2)
	}
	return *parsed
}
