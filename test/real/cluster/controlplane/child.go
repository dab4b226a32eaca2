package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// child is one part, running.
type child struct {
	part    string
	command *exec.Cmd
	log     string
	done    chan struct{}
}

// grace is how long a part may take to end before it is killed; nothing of a test's data is worth more.
const grace = 2 * time.Second

func start(l *layout, part string, ended chan<- error) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := l.path("logs", part+".log")
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	command := exec.Command(self, append([]string{part}, l.flags(part)...)...)
	command.Stdout, command.Stderr, command.Dir = out, out, l.dir
	// Own group: a Ctrl-C of the terminal goes to the supervisor alone, which stops them in order.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &child{part, command, file, make(chan struct{})}
	go func() {
		err := command.Wait()
		close(c.done)
		ended <- fmt.Errorf("%s ended (%v); its log ends with:\n%s", part, err, c.lastLines())
	}()
	return c, nil
}

func (c *child) stop() {
	_ = c.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(grace):
		_ = c.command.Process.Kill()
		<-c.done
	}
}

// lastLines are the end of the log, enough to see why a part gave up.
func (c *child) lastLines() string {
	content, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-8):], []byte("\n")))
}

// waitReady asks the part's own readiness until it says yes, the part ends, or a minute has passed.
func (c *child) waitReady(ctx context.Context, l *layout, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client, err := clientOf(l)
	if err != nil {
		return err
	}
	url := map[string]string{
		"etcd":                    "http://" + l.loopback("etcd") + "/health",
		"kube-apiserver":          fmt.Sprintf("https://127.0.0.1:%d/readyz", l.ports["kube-apiserver"]),
		"kube-controller-manager": "https://" + l.loopback("kube-controller-manager") + "/healthz",
		"kube-scheduler":          "https://" + l.loopback("kube-scheduler") + "/readyz",
	}[c.part]
	for {
		if answers(ctx, client, url) {
			return nil
		}
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its log ends with:\n%s", c.part, ctx.Err(), c.lastLines())
		case <-time.After(25 * time.Millisecond):
		}
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// clientOf speaks as admin, on loopback only, where two of the parts serve certificates they made up: not verified.
func clientOf(l *layout) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(l.path("pki", "admin.crt"), l.path("pki", "admin.key"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true}
	return &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}, nil
}
