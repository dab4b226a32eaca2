/** Runs a kubeconfig's exec plugin for credentials: without a terminal, with a time limit, and with one-line errors. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";
import { type Exec, KubeconfigError } from "./kubeconfig-file.ts";

export type ExecCredential = {
  readonly token: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
};

export type Plugin = {
  readonly exec: Exec;
  /** Folder of the kubeconfig: a command with a slash is relative to it. */
  readonly folder: string;
  /** The cluster information that a plugin receives if it asks for it. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
};

const limitMs = 30_000;

const credential = z.looseObject({
  status: z.looseObject({
    token: z.string().nullish(),
    clientCertificateData: z.string().nullish(),
    clientKeyData: z.string().nullish(),
  }),
});

const infoFor = ({ exec, cluster }: Plugin): string =>
  JSON.stringify({
    apiVersion: exec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(exec.provideClusterInfo === true ? { cluster } : {}) },
  });

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

const whyNot = (plugin: Plugin, error: Error & { code?: unknown; killed?: boolean }, stderr: string): string => {
  const { command, installHint } = plugin.exec;
  if (error.code === "ENOENT") {
    const hint = installHint === null || installHint === undefined ? "" : `: ${firstLine(installHint)}`;
    return `the kubeconfig's exec plugin ${command} is not installed${hint}`;
  }
  if (error.killed === true) return `the kubeconfig's exec plugin ${command} did not answer within ${limitMs / 1000} s`;
  return `the kubeconfig's exec plugin ${command} failed: ${firstLine(stderr) || firstLine(error.message)}`;
};

const run = (plugin: Plugin): Promise<string> => {
  const { exec, folder, env } = plugin;
  const command = /[\\/]/.test(exec.command) ? resolve(folder, exec.command) : exec.command;
  const added = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  const options = {
    env: { ...env, ...added, KUBERNETES_EXEC_INFO: infoFor(plugin) } as NodeJS.ProcessEnv,
    timeout: limitMs,
    maxBuffer: 1 << 20,
  };
  return new Promise((done, reject) => {
    const child = execFile(command, exec.args ?? [], options, (error, stdout, stderr) => {
      if (error === null) done(stdout);
      else reject(new KubeconfigError(whyNot(plugin, error, stderr)));
    });
    child.stdin?.end();
  });
};

/** Runs the plugin once. Errors never contain its output, because it may hold the credential. */
export const runPlugin = async (plugin: Plugin): Promise<ExecCredential> => {
  const stdout = await run(plugin);
  const parsed = credential.safeParse(jsonOf(stdout));
  if (!parsed.success) {
    throw new KubeconfigError(`the kubeconfig's exec plugin ${plugin.exec.command} did not print an ExecCredential`);
  }
  const { token, clientCertificateData, clientKeyData } = parsed.data.status;
  return { token: token ?? undefined, cert: clientCertificateData ?? undefined, key: clientKeyData ?? undefined };
};
