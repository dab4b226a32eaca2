/** Runs the same kubectl commands against the simulator and a real API server: exit codes and outputs must be equal. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveSimulator } from "../../../shared/simulator/http/serve.ts";
import { controlPlaneFiles } from "../../real/setup/go.ts";
import { compare, type Verdict } from "./compare.ts";
import { type Line, normal } from "./scenario.ts";
import { openServer } from "./server.ts";

type Command = {
  readonly args: string;
  /** Written to its stdin. */
  readonly input?: object;
  /** Selects the part of the output that must be equal; absent: all of it. */
  readonly shown?: (output: string) => string;
};

/** Leaves out the whole output: the simulator does not claim equal columns, defaults and descriptions. */
const nothing = (): string => "";

/** Selects fields and their types, without descriptions and required fields; Quantity and IntOrString become Object. */
const fieldsIn = (output: string): string =>
  [...output.matchAll(/^ {2}(\w+)\t(<.*?>)/gm)]
    .map(([, name, type]) => `${name} ${type?.replace(/Quantity|IntOrString/, "Object")}`)
    .join("\n");

/** A Deployment to apply; `env` and `more` vary its containers. */
const applied = (env: readonly object[], more: readonly object[] = []) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "applied" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "applied" } },
    template: {
      metadata: { labels: { app: "applied" } },
      spec: {
        containers: [{ name: "main", image: "sleep:1", ports: [{ containerPort: 80, protocol: "TCP" }], env }, ...more],
      },
    },
  },
});

const containers = "get deployment applied -o jsonpath={.spec.template.spec.containers[*]['name','env','ports']}";
const robot = "--as=system:serviceaccount:<ns>:robot";
const made = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
const bare = { apiVersion: "v1", kind: "Pod", metadata: { name: "bare" } };
const sleeper = { ...bare, spec: { containers: [{ name: "main", image: "sleep:1" }] } };

const explained = ["pod", "pod.spec", "pod.spec.containers", "deployment.spec", "configmap", "job.spec", "role.rules"];

const commands: readonly Command[] = [
  ...explained.map((what) => ({ args: `explain ${what}`, shown: fieldsIn })),
  { args: "explain pod.spec.nothing" },
  { args: "create configmap one --from-literal=a=b" },
  { args: "get configmap one -o jsonpath={.data}" },
  { args: "create configmap one --from-literal=a=b" },
  { args: "create secret generic one --from-literal=a=b" },
  { args: "get secret one -o jsonpath={.data}{.type}" },
  { args: "create -f -", input: made, shown: (output) => output.replace(/made-\w{5}/, "made-<x>") },
  { args: "apply -f -", input: applied([{ name: "A", value: "1" }], [{ name: "side", image: "sleep:1" }]) },
  { args: containers },
  { args: "apply -f -", input: applied([{ name: "B", value: "2" }]) },
  { args: containers },
  { args: "apply -f -", input: applied([{ name: "B", value: "2" }]) },
  { args: "apply -f -", input: applied([{ name: "B", wrong: "2" }]), shown: nothing },
  { args: "apply --server-side -f -", input: applied([{ name: "C", value: "3" }]), shown: nothing },
  { args: "apply --server-side --force-conflicts -f -", input: applied([{ name: "C", value: "3" }]) },
  { args: 'patch deployment applied -p {"spec":{"template":{"spec":{"containers":[{"name":"main","env":null}]}}}}' },
  { args: containers },
  { args: "label deployment applied a=b" },
  { args: "annotate deployment applied a=b" },
  { args: "create serviceaccount robot" },
  { args: "create role reader --verb=get,list --resource=pods" },
  { args: "create rolebinding reader --role=reader --serviceaccount=<ns>:robot" },
  { args: `auth can-i list pods ${robot}` },
  { args: `auth can-i delete pods ${robot}` },
  { args: `get configmaps ${robot}` },
  { args: "create token robot --duration=20m", shown: nothing },
  { args: "create token robot --duration=1m" },
  { args: "create token nobody" },
  { args: "create cronjob monthly --image=sleep:1 --schedule=@monthly -- sleep 1" },
  { args: "create quota few --hard=pods=1" },
  { args: "get quota few -o jsonpath={.spec}" },
  // A quota limits nothing before its controller has counted.
  { args: "wait --for=jsonpath={.status.hard.pods}=1 resourcequota/few --timeout=20s" },
  { args: "create -f -", input: sleeper },
  { args: "wait --for=jsonpath={.status.used.pods}=1 resourcequota/few --timeout=20s" },
  { args: "create -f -", input: { ...sleeper, metadata: { name: "second" } } },
  { args: "create -f -", input: bare },
  { args: "get pods -o name" },
  { args: "get pods --field-selector=status.phase=Running -o name" },
  { args: "create poddisruptionbudget few --selector=a=b --min-available=50%" },
  { args: "get poddisruptionbudget few -o jsonpath={.spec}" },
  { args: "create service clusterip door --tcp=80:8080" },
  { args: "get service door -o jsonpath={.spec.ports}" },
  { args: "create ingress in --rule=a.b/x=door:80" },
  { args: "get ingress in -o jsonpath={.spec}" },
  { args: "replace -f -", input: { ...made, metadata: { name: "one" }, data: { c: "d" } } },
  { args: "diff -f -", input: { ...made, metadata: { name: "one" }, data: { c: "d" } } },
  { args: "wait --for=jsonpath={.data.c}=d configmap/one --timeout=5s" },
  { args: "delete pod bare --force --grace-period=0", shown: nothing },
  { args: "delete configmap one" },
  { args: "get configmap one" },
  { args: "get things" },
];

type Ended = { readonly code: number; readonly text: string };

const run = (file: string, args: readonly string[], input: string): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(file, args, { timeout: 30_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, text: `${stdout}${stderr}`.replace(/^Warning: .*\n/gm, "") });
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });

/** Runs every command on one server. Returns each exit code and output. */
const told = async (kubectl: string, kubeconfig: string, ns: string): Promise<readonly Line[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-kubectl-"));
  const lines: Line[] = [];
  const where = ["--kubeconfig", kubeconfig, "--cache-dir", dir, "-n", ns];
  await run(kubectl, [...where, "create", "namespace", ns], "");
  await run(kubectl, [...where, "wait", "--for=create", "serviceaccount/default", "--timeout=10s"], "");
  for (const { args, input, shown = (output: string): string => output } of commands) {
    const words = args.replaceAll("<ns>", ns).split(" ");
    const { code, text } = await run(kubectl, [...where, ...words], input === undefined ? "" : JSON.stringify(input));
    lines.push({ name: args, said: normal({ code, text: shown(text).replaceAll(ns, "<ns>") }) });
  }
  await run(kubectl, [...where, "delete", "namespace", ns, "--wait=false"], "");
  await rm(dir, { recursive: true, force: true });
  return lines;
};

/** Runs all commands on both servers. */
export const kubectlBoth = async (kubeconfig: string): Promise<readonly Verdict[]> => {
  const { kubectl } = await controlPlaneFiles();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-kubectl-"));
  const served = await serveSimulator(openServer());
  try {
    const own = join(dir, "kubeconfig");
    await writeFile(own, served.kubeconfig);
    const ns = `k-${Date.now().toString(36)}`;
    const [ours, theirs] = await Promise.all([told(kubectl, own, ns), told(kubectl, kubeconfig, ns)]);
    return compare("kubectl", ours, theirs);
  } finally {
    await served.close();
    await rm(dir, { recursive: true, force: true });
  }
};
