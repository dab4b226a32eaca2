/** Rekindle as users install it: its host, its host with plans for gangs, and its functions behind the dispatcher. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { accountsIn, dataIn, overlayOf } from "../../../real/infra/overlays.ts";
import { apply } from "../../accounts.ts";
import type { Subject } from "../../subject.ts";
import { at, listAt, textAt } from "../../values.ts";
import { applications } from "./applications.ts";
import { jobs } from "./jobs.ts";
import { refusal } from "./refusals.ts";
import { rows } from "./rows.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const dist = join(root, "dist");
const cli = join(dist, "cli.mjs");

const output = async (program: string, args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, [...args], { cwd: root, maxBuffer: 64 << 20 })).stdout;

const printed = (...args: readonly string[]): Promise<string> =>
  output(process.execPath, [cli, "manifests", "--without-deployment", ...args]);

/** The shared build of the tests, in a process of its own: the judge imports nothing of what it tries. */
const build = (): Promise<string> =>
  output(process.execPath, [
    ...["--input-type=module", "--eval"],
    'import { builtFor } from "./test/support/build.ts"; await builtFor("dist");',
  ]);

const common: Pick<Subject, "version" | "rows" | "scenarios"> = {
  version: async () => (await output("git", ["rev-parse", "--short", "HEAD"])).trim(),
  rows,
  scenarios: [...applications, ...jobs],
};

/** A host with the rights of these features, and these flags. */
const host = (name: string, features: readonly string[], flags: readonly string[]): Subject => ({
  ...common,
  name,
  install: async (plane) => {
    await build();
    await apply(plane, await printed(...features));
    await apply(plane, refusal);
    return { namespace: "rekindle", accounts: ["rekindle"] };
  },
  program: (kubeconfigOf) => ({
    command: [
      ...[process.execPath, cli, "host", "--kubeconfig", kubeconfigOf("rekindle")],
      ...["--listen", "127.0.0.1:0", ...flags],
    ],
  }),
});

/** The record of the cluster that a function is given, from a kubeconfig. */
const recordIn = (kubeconfig: string): string => {
  const config: unknown = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const cluster = at(listAt(config, "clusters")[0], "cluster");
  const ca = Buffer.from(textAt(cluster, "certificate-authority-data"), "base64").toString();
  const token = textAt(listAt(config, "users")[0], "user", "token");
  return JSON.stringify({ server: textAt(cluster, "server"), ca, token });
};

const names = ["dispatch", "reconcile", "deliver"] as const;

const functions = (): Subject => {
  let settings: Readonly<Record<string, string>> = {};
  return {
    ...common,
    name: "rekindle-functions",
    hasParts: true,
    install: async (plane) => {
      await build();
      // Definitions come from the command line; accounts and settings from the overlay.
      await apply(plane, await printed());
      await apply(plane, refusal);
      const overlay = await overlayOf(plane, "dispatch");
      await apply(plane, accountsIn(overlay));
      settings = { ...dataIn(overlay), REKINDLE_CALL_SECRET: "a secret that signs the calls of this bench" };
      return { namespace: "rekindle", accounts: names.map((name) => `rekindle-${name}`) };
    },
    program: (kubeconfigOf) => ({
      command: [process.execPath, join(import.meta.dirname, "platform.ts")],
      env: {
        DIST: dist,
        SETTINGS: JSON.stringify(settings),
        RECORDS: JSON.stringify(
          Object.fromEntries(names.map((name) => [name, recordIn(kubeconfigOf(`rekindle-${name}`))])),
        ),
      },
    }),
  };
};

/** The ways to install Rekindle, by the word that selects one. */
export const modes: Readonly<Record<string, Subject>> = {
  host: host("rekindle", [], []),
  functions: functions(),
  gang: host("rekindle-gang", ["--features", "gang"], ["--gang", "builtin"]),
};
