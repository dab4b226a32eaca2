/**
 * Credentials of a kubeconfig's exec plugin, as an authenticator of the client library, whose own one has no time limit,
 * tells the plugin nothing, and leaves its processes behind. The plugin runs without a terminal, once for each credential:
 * at the start, when the credential has expired, and when the server has refused it. Errors are one line, and never
 * contain the plugin's output, because that may hold the credential.
 */
import { spawn } from "node:child_process";
import type { KubeConfig } from "@kubernetes/client-node";
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";
import { KubeconfigError } from "./kubeconfig-error.ts";

const group = "client.authentication.k8s.io";

export const execShape = z.looseObject({
  apiVersion: z.enum([`${group}/v1`, `${group}/v1beta1`]),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).nullish(),
  provideClusterInfo: z.boolean().nullish(),
});

export type Plugin = {
  readonly exec: z.infer<typeof execShape>;
  /** The command; a relative path has become an absolute one. */
  readonly command: string;
  /** The cluster information that a plugin receives if it asks for it. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
};

const limitMs = 30_000;
const longestOutput = 1 << 20;

const statusShape = z.looseObject({
  token: z.string().nullish(),
  clientCertificateData: z.string().nullish(),
  clientKeyData: z.string().nullish(),
  expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
});

const credentialShape = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: statusShape,
});

type Status = z.infer<typeof statusShape>;

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

const errorOf = ({ exec }: Plugin, what: string): KubeconfigError =>
  new KubeconfigError(`the kubeconfig's exec plugin ${exec.command} ${what}`);

/** Ends the plugin's process and those that it has started. */
const end = (pid: number | undefined): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All have ended.
  }
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends the plugin when this process ends: it is in a group of its own, which a terminal's signals do not reach. Called before
 * the plugin starts, so that no signal comes in between.
 */
const endingWithUs = (pidOf: () => number | undefined): (() => void) => {
  const onExit = (): void => end(pidOf());
  const onSignal = (signal: NodeJS.Signals): void => {
    end(pidOf());
    release();
    // Without this listener the signal would have ended the process, unless another one handles it.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const release = (): void => {
    process.off("exit", onExit);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
  return release;
};

const infoFor = ({ exec, cluster }: Plugin): string =>
  JSON.stringify({
    apiVersion: exec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  });

/** Runs the plugin; resolves with what it printed. */
const run = (plugin: Plugin): Promise<string> => {
  const { exec, command, env } = plugin;
  const added = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  let pid: number | undefined;
  const release = endingWithUs(() => pid);
  const child = spawn(command, exec.args ?? [], {
    env: { ...env, ...added, KUBERNETES_EXEC_INFO: infoFor(plugin) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  pid = child.pid;
  let [printed, complaint] = ["", ""];
  return new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(errorOf(plugin, `did not answer within ${limitMs / 1000} s`)), limitMs);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.length > longestOutput) reject(errorOf(plugin, "prints without an end"));
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, longestOutput);
    });
    child.on("error", (cause: NodeJS.ErrnoException) => {
      const hint = exec.installHint ? `: ${firstLine(exec.installHint)}` : "";
      reject(errorOf(plugin, cause.code === "ENOENT" ? `is not installed${hint}` : `failed: ${cause.message}`));
    });
    // Processes that the plugin leaves behind keep its output open.
    child.on("exit", () => end(child.pid));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(printed);
      else reject(errorOf(plugin, `failed: ${firstLine(complaint) || `it ended with ${code ?? signal}`}`));
    });
    void child.once("close", () => clearTimeout(late));
  }).finally(() => {
    end(child.pid);
    release();
  });
};

const askPlugin = async (plugin: Plugin): Promise<Status> => {
  if (plugin.exec.interactiveMode === "Always")
    throw errorOf(plugin, "needs a terminal, and runs without one: use another user of the kubeconfig");
  const { data } = credentialShape.safeParse(jsonOf(await run(plugin)));
  if (data === undefined) throw errorOf(plugin, "did not print an ExecCredential");
  if (data.apiVersion !== plugin.exec.apiVersion)
    throw errorOf(plugin, `printed an ExecCredential of ${data.apiVersion}, and not of ${plugin.exec.apiVersion}`);
  const { token, clientCertificateData: cert, clientKeyData: key } = data.status;
  if (!token && !(cert && key)) throw errorOf(plugin, "gave neither token nor certificate");
  return data.status;
};

/** The name by which a user's credentials belong to this authenticator. */
export const execProvider = "exec plugin";

export type ExecAuthenticator = Parameters<KubeConfig["addAuthenticator"]>[0] & {
  /** The end of the credential, epoch ms; undefined if it has none. */
  expiresAt(): number | undefined;
  /** Forgets the credential, which the server has refused. */
  forget(): void;
};

/** Opens the authenticator; the plugin runs when a credential is needed. */
export const openExecAuthenticator = (plugin: Plugin): ExecAuthenticator => {
  let held: Status | undefined;
  const expiresAt = (): number | undefined =>
    held?.expirationTimestamp ? Date.parse(held.expirationTimestamp) : undefined;
  return {
    isAuthProvider: ({ authProvider }) => authProvider?.name === execProvider,
    applyAuthentication: async (_, options) => {
      if ((expiresAt() ?? Number.POSITIVE_INFINITY) <= Date.now()) held = undefined;
      held ??= await askPlugin(plugin);
      const { token, clientCertificateData, clientKeyData } = held;
      if (clientCertificateData && clientKeyData)
        Object.assign(options, { cert: clientCertificateData, key: clientKeyData });
      if (token) options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
    },
    expiresAt,
    forget: () => {
      held = undefined;
    },
  };
};
