// Command helm prints what `helm install --dry-run` would send, and its notes: Helm's own loader, schema check and engine.
//
//	helm CHART RELEASE NAMESPACE [VALUES.yaml…]
package main

import (
	"fmt"
	"os"
	"path"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: helm CHART RELEASE NAMESPACE [VALUES.yaml…]")
		os.Exit(2)
	}
	if err := print(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// valuesOf merges files as several -f do: what comes later wins.
func valuesOf(files []string) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range files {
		more, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return nil, err
		}
		values = chartutil.MergeTables(more, values)
	}
	return values, nil
}

func print(dir, release, namespace string, files []string) error {
	found, err := loader.Load(dir)
	if err != nil {
		return err
	}
	given, err := valuesOf(files)
	if err != nil {
		return err
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(found, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	rendered, err := engine.Render(found, values)
	if err != nil {
		return err
	}
	tell(found, rendered)
	return nil
}

// tell prints the definitions, then the templates by their names; the notes as comments behind them.
func tell(found *chart.Chart, rendered map[string]string) {
	for _, crd := range found.CRDObjects() {
		fmt.Printf("---\n%s\n", strings.TrimSpace(string(crd.File.Data)))
	}
	names := make([]string, 0, len(rendered))
	for name := range rendered {
		names = append(names, name)
	}
	sort.Strings(names)
	notes := ""
	for _, name := range names {
		text := strings.TrimSpace(rendered[name])
		switch {
		case path.Base(name) == "NOTES.txt":
			notes = text
		case text != "":
			fmt.Printf("---\n%s\n", strings.TrimPrefix(text, "---\n"))
		}
	}
	if notes != "" {
		fmt.Printf("---\n# %s\n", strings.ReplaceAll(notes, "\n", "\n# "))
	}
}
