package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// layout is where one cluster keeps its files and which ports it took.
type layout struct {
	dir    string
	listen string
	reach  string
	port   int
	ports  map[string]int
	extra  map[string][]string
}

// extraFlags collects repeated `--extra kube-apiserver=--flag=value`.
type extraFlags map[string][]string

func (e extraFlags) String() string { return "" }

func (e extraFlags) Set(text string) error {
	part, flag, found := strings.Cut(text, "=")
	if _, known := parts[part]; !found || !known {
		return fmt.Errorf("want PART=--flag=value, got %q", text)
	}
	e[part] = append(e[part], flag)
	return nil
}

func readLayout(args []string) (*layout, error) {
	l := &layout{ports: map[string]int{}, extra: map[string][]string{}}
	flags := flag.NewFlagSet("up", flag.ExitOnError)
	flags.StringVar(&l.dir, "dir", "", "folder of this cluster: data, keys, logs, cluster.json")
	flags.StringVar(&l.listen, "listen", "127.0.0.1", "address the API server listens on")
	flags.StringVar(&l.reach, "reach", "127.0.0.1", "address by which its clients reach it")
	flags.IntVar(&l.port, "port", 0, "port of the API server; 0 picks a free one")
	flags.Var(extraFlags(l.extra), "extra", "PART=--flag=value, appended to the flags of that part; may be repeated")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if l.dir == "" {
		return nil, fmt.Errorf("--dir is needed")
	}
	absolute, err := filepath.Abs(l.dir)
	if err != nil {
		return nil, err
	}
	l.dir = absolute
	return l, l.makeRoom()
}

// makeRoom makes the folders and holds each port until all are known, so that no two are alike.
func (l *layout) makeRoom() error {
	for _, sub := range []string{"etcd", "logs"} {
		if err := os.MkdirAll(l.path(sub), 0o700); err != nil {
			return err
		}
	}
	names := []string{"etcd", "etcd-peer", "kube-controller-manager", "kube-scheduler"}
	if l.port == 0 {
		names = append(names, "kube-apiserver")
	} else {
		l.ports["kube-apiserver"] = l.port
	}
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer listener.Close()
		l.ports[name] = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}

func (l *layout) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

func (l *layout) server() string {
	return fmt.Sprintf("https://%s:%d", l.reach, l.ports["kube-apiserver"])
}

func (l *layout) loopback(part string) string { return fmt.Sprintf("127.0.0.1:%d", l.ports[part]) }

// writePKI makes all keys, certificates and kubeconfigs; nothing of them outlives the folder.
func (l *layout) writePKI() error {
	a, err := newAuthority(l.path("pki"))
	if err != nil {
		return err
	}
	nodes := []net.IP{net.IPv4(127, 0, 0, 1)}
	for last := byte(1); last <= 16; last++ {
		nodes = append(nodes, net.IPv4(10, 244, 0, last))
	}
	masters := []string{"system:masters"}
	issued := []identity{
		{file: "apiserver", name: "kube-apiserver",
			names:     []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
			addresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 244, 0, 1), net.IPv4(10, 96, 0, 1), net.ParseIP(l.reach)}},
		{file: "kubelet", name: "kubelet", names: []string{"localhost"}, addresses: nodes},
		{file: "kubelet-client", name: "kube-apiserver-kubelet-client", organisation: masters},
		{file: "admin", name: "admin", organisation: masters},
		{file: "node-agent", name: "node-agent", organisation: masters},
		{file: "kube-controller-manager", name: "system:kube-controller-manager"},
		{file: "kube-scheduler", name: "system:kube-scheduler"},
	}
	for _, who := range issued {
		if err := a.issue(who); err != nil {
			return err
		}
	}
	if err := a.tokenKey(); err != nil {
		return err
	}
	for _, who := range []string{"admin", "node-agent", "kube-controller-manager", "kube-scheduler"} {
		if err := a.kubeconfig(l.path(who+".kubeconfig"), l.server(), who); err != nil {
			return err
		}
	}
	return nil
}

// flags are what each part is started with; what the caller added comes last and wins.
func (l *layout) flags(part string) []string {
	pki := func(name string) string { return l.path("pki", name) }
	all := map[string][]string{
		"etcd": {
			"--data-dir=" + l.path("etcd"),
			"--listen-client-url=http://" + l.loopback("etcd"),
			"--listen-peer-url=http://" + l.loopback("etcd-peer"),
		},
		"kube-apiserver": {
			"--etcd-servers=http://" + l.loopback("etcd"),
			"--bind-address=" + l.listen,
			"--advertise-address=" + l.reach,
			fmt.Sprintf("--secure-port=%d", l.ports["kube-apiserver"]),
			"--tls-cert-file=" + pki("apiserver.crt"),
			"--tls-private-key-file=" + pki("apiserver.key"),
			"--client-ca-file=" + pki("ca.crt"),
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + pki("service-accounts.pub"),
			"--service-account-signing-key-file=" + pki("service-accounts.key"),
			"--service-cluster-ip-range=10.96.0.0/16",
			"--endpoint-reconciler-type=none",
			"--kubelet-client-certificate=" + pki("kubelet-client.crt"),
			"--kubelet-client-key=" + pki("kubelet-client.key"),
			"--kubelet-certificate-authority=" + pki("ca.crt"),
			"--kubelet-preferred-address-types=InternalIP",
			"--allow-privileged=true",
			"--profiling=false",
		},
		"kube-controller-manager": {
			"--kubeconfig=" + l.path("kube-controller-manager.kubeconfig"),
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", l.ports["kube-controller-manager"]),
			"--service-account-private-key-file=" + pki("service-accounts.key"),
			"--root-ca-file=" + pki("ca.crt"),
			"--use-service-account-credentials=true",
			// Its default of 20 a second would make the start, and a garbage collection, a matter of throttling.
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			"--leader-elect=false",
			"--profiling=false",
		},
		"kube-scheduler": {
			"--kubeconfig=" + l.path("kube-scheduler.kubeconfig"),
			"--kube-api-qps=200",
			"--kube-api-burst=400",
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", l.ports["kube-scheduler"]),
			"--leader-elect=false",
			"--profiling=false",
		},
	}
	return append(all[part], l.extra[part]...)
}
