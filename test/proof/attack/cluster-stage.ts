/**
 * The stages on a real API server: the installed manifests, the shipped service account, the built host, the attacker's
 * namespace.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, startCluster } from "../../real/cluster/cluster.ts";
import { admissionByUrl, cli, install, installAdmission } from "../../real/e2e/installed.ts";
import { command } from "../../real/setup/part.ts";
import { firstQueues } from "../../support/standins.ts";
import { must, type StageName } from "./attack.ts";
import { operatorToken } from "./canaries.ts";
import { openDispatcher } from "./dispatcher.ts";
import { openHost } from "./host.ts";
import { openListener } from "./listener.ts";
import { nameServer, openNameServer } from "./nameserver.ts";
import { runOf } from "./program.ts";
import { attackers, fresh, type Hands, pathOf, type Stand, timed, waitFor } from "./stand.ts";
import { openTenant } from "./tenant.ts";

/** Secrets of the host. They are canaries, too: no place may show them. */
export const secrets = { trigger: "canary-trigger-secret-4711", updates: "canary-updates-secret-4712" };

/** The callers of the page. */
type PageCaller = "actor" | "neighbour" | "reader";

/** Returns the token of a caller of the page; it is a canary, too. */
export const pageToken = (of: PageCaller): string => `${secrets.trigger}-${of}`;

/** The callers: one that signs triggers, as the only secret would, and those of the page. */
const callers = JSON.stringify([
  { name: "trigger", keys: [secrets.trigger], may: ["trigger", "notice", "read"], perMinute: 6_000 },
  { name: "actor", tokens: [pageToken("actor")], may: ["read", "act", "trigger"] },
  { name: "neighbour", tokens: [pageToken("neighbour")], may: ["read", "act"], namespaces: ["default"] },
  { name: "reader", tokens: [pageToken("reader")], may: ["read"] },
]);

const must201 = async ({ call }: Hands, kind: string, namespace: string, object: object): Promise<void> => {
  const { status, body } = await call("POST", pathOf(kind, namespace), object);
  must(status === 201 || status === 409, `${kind}: ${JSON.stringify(body)}`);
};

/** Creates a service account for the attacker's drivers, and the queues that Volcano creates. */
const furnish = async (hands: Hands): Promise<void> => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark" } };
  await must201(hands, "ServiceAccount", attackers, account);
  for (const queue of firstQueues) await must201(hands, "Queue", "", queue);
};

/** Makes the host's resolver ask our name server: mounts a file over resolv.conf in this mount namespace only. */
const pointNames = async (dir: string): Promise<void> => {
  const file = join(dir, "resolv.conf");
  await writeFile(file, `nameserver ${nameServer.address}\noptions timeout:1 attempts:1\n`);
  await command("mount", ["--bind", file, "/etc/resolv.conf"]);
};

/** The operator's listener, at the attack's own. */
const operatorListener = (listener: string): string => `${listener}/updates?token=${operatorToken}`;

type Which = Exclude<StageName, "simulated">;

const withAdmission: ReadonlySet<Which> = new Set(["admission", "dispatcher-admission"]);

/** Settings of a dispatcher whose admission webhook the API server calls by URL. */
const admissionOfDispatcher = {
  REKINDLE_ADMISSION: "true",
  REKINDLE_ADMISSION_LISTEN: "127.0.0.1:19443",
  REKINDLE_ADMISSION_REACH: "https://127.0.0.1:19443",
} as const;

/**
 * Returns the host's flags. Listeners at private addresses are allowed only on the stage without webhooks, where the
 * listener belongs to the attack.
 */
const flagsOf = (which: Which, dir: string, listener: string): readonly string[] => [
  ...["--log-level", "info", "--resync", "30s"],
  ...["--trigger-secret-file", join(dir, "trigger"), "--updates-secret-file", join(dir, "updates")],
  // Nobody listens at the issuer.
  ...["--page-url", "https://rekindle.example/page", "--oidc-issuer", "https://127.0.0.1:9", "--page-kube-tokens"],
  ...["--oidc-client-id", "page", "--oidc-client-secret-file", join(dir, "client"), "--oidc-groups", '{"*": {}}'],
  ...(which === "cluster" ? ["--updates-allow-private", "--updates-to", operatorListener(listener)] : admissionByUrl),
];

export type ClusterStages = {
  readonly open: (which: Which) => Promise<Stand & { readonly close: () => Promise<void> }>;
  readonly stop: () => Promise<void>;
};

type Opening = {
  readonly cluster: Cluster;
  readonly tenant: Hands;
  readonly dir: string;
  readonly kubeconfig: string;
};

/** Opens what is attacked, with a log of its own: `openHost` reads the host's address in it. */
const processOf = async (which: Which, { cluster, dir, kubeconfig }: Opening, listener: string) => {
  const settings = {
    ...{ REKINDLE_TRIGGER_SECRET: callers, REKINDLE_UPDATES_SECRET: secrets.updates },
    ...{ REKINDLE_UPDATES_TO: operatorListener(listener), REKINDLE_UPDATES_ALLOW_PRIVATE: "true" },
  };
  const folder = join(dir, fresh(which));
  if (which === "dispatcher") return await openDispatcher(cluster, folder, { overlay: "dispatch", settings });
  if (which === "dispatcher-admission")
    return await openDispatcher(cluster, folder, {
      overlay: "dispatch-admission",
      settings: { ...settings, ...admissionOfDispatcher },
    });
  return await openHost(kubeconfig, `${folder}.log`, flagsOf(which, dir, listener));
};

const opened = async (opening: Opening, which: Which) => {
  const { cluster, tenant } = opening;
  const listener = await openListener();
  const host = await processOf(which, opening, listener.url);
  const hands: Hands = { call: cluster.api.call };
  if (withAdmission.has(which))
    must(await waitFor(() => isAsked(hands), 20_000), "the API server does not ask admission");
  return {
    ...hands,
    ...{ tenant, host, listener, secrets, reins: undefined },
    rekindle: runOf(cli, cluster.adminKubeconfig),
    neighbour: () => timed(hands),
    close: async () => {
      listener.close();
      await host.stop();
    },
  };
};

/** True once the API server refuses an object that upstream's webhook refuses: the webhook is called. */
const isAsked = async ({ call }: Hands): Promise<boolean> => {
  const { sparkPi } = await import("../../support/pi.ts");
  const reply = await call("POST", `${pathOf("SparkApplication", "default")}?dryRun=All`, sparkPi("with.dots"));
  return reply.status >= 400;
};

/** Starts the control plane; each stage opens a host on it, one after the other. */
export const openClusterStages = async (): Promise<ClusterStages> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-attack-"));
  await writeFile(join(dir, "trigger"), callers);
  await writeFile(join(dir, "client"), "canary-client-secret-4713");
  await writeFile(join(dir, "updates"), secrets.updates);
  await pointNames(dir);
  const names = await openNameServer();
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "plane") });
  try {
    const kubeconfig = await install(cluster, undefined);
    await installAdmission(cluster);
    await cluster.api.until(pathOf("Queue"), ({ status }) => status === 200, 30_000);
    const tenant = await openTenant(cluster);
    await furnish({ call: cluster.api.call });
    return {
      open: (which) => opened({ cluster, tenant, dir, kubeconfig }, which),
      stop: async () => {
        names.close();
        await cluster.stop();
        await rm(dir, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    names.close();
    await cluster.stop();
    throw cause;
  }
};
