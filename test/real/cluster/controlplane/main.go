// Command controlplane is a real Kubernetes control plane for tests in one file: etcd, API server, controller manager,
// scheduler and kubectl, each entered by its name, and `up`, which runs the four as child processes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/component-base/version"
	"k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// parts are the programs this binary holds, by the name that enters them.
var parts = map[string]func() int{
	"up":                      up,
	"etcd":                    etcd,
	"version":                 func() int { fmt.Println(version.Get().GitVersion); return 0 },
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllers.NewControllerManagerCommand),
	"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubectl":                 command(cmd.NewDefaultKubectlCommand),
}

func command(build func() *cobra.Command) func() int {
	return func() int { return cli.Run(build()) }
}

// main enters the part named by the file's own name (a link called kubectl is kubectl) or by the first argument.
func main() {
	name := filepath.Base(os.Args[0])
	if _, linked := parts[name]; !linked && len(os.Args) > 1 {
		name = os.Args[1]
		os.Args = append([]string{name}, os.Args[2:]...)
	}
	part, known := parts[name]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: controlplane up|etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl|version [flags]")
		os.Exit(2)
	}
	os.Exit(part())
}
