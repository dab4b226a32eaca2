package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// order is the order of starting; stopping goes the other way.
var order = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}

// up starts the four parts, says `ready FILE` when all are, and stays until it is told to stop or its stdin ends: a caller
// that dies in whatever way takes its cluster with it.
func up() int {
	// Children die with the thread that started them (Pdeathsig), so that thread must live as long as the process.
	runtime.LockOSThread()
	l, err := readLayout(os.Args[1:])
	if err == nil {
		err = run(l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		return 1
	}
	return 0
}

func run(l *layout) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := l.writePKI(); err != nil {
		return err
	}
	children := make([]*child, 0, len(order))
	defer func() {
		for i := len(children) - 1; i >= 0; i-- {
			children[i].stop()
		}
		_ = os.Remove(l.path("cluster.json"))
	}()
	ended := make(chan error, len(order))
	for _, part := range order {
		c, err := start(l, part, ended)
		if err != nil {
			return err
		}
		children = append(children, c)
		if err := c.waitReady(ctx, l, ended); err != nil {
			return quietly(ctx, err)
		}
	}
	if err := announce(l, children); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// quietly: to be told to stop while starting is no error.
func quietly(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func announce(l *layout, children []*child) error {
	pids := map[string]int{"controlplane": os.Getpid()}
	for _, c := range children {
		pids[c.part] = c.command.Process.Pid
	}
	text, err := json.MarshalIndent(map[string]any{
		"server":          l.server(),
		"caFile":          l.path("pki", "ca.crt"),
		"adminKubeconfig": l.path("admin.kubeconfig"),
		"pids":            pids,
		"ports":           l.ports,
	}, "", "  ")
	if err != nil {
		return err
	}
	file := l.path("cluster.json")
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return err
	}
	fmt.Println("ready", file)
	return nil
}
