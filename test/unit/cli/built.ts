/** The built command line as a process of its own, on a simulator behind real HTTP. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtFor } from "../../support/build.ts";

const root = join(import.meta.dirname, "..", "..", "..");

export type Ended = { readonly code: number; readonly out: string; readonly err: string };

export type Process = {
  /** The standard output so far. */
  out(): string;
  err(): string;
  /** SIGINT, as Ctrl-C sends it. */
  interrupt(): void;
  readonly ended: Promise<Ended>;
};

export type Built = {
  run(args: readonly string[], input?: string): Promise<Ended>;
  start(args: readonly string[]): Process;
};

export type Package = { at(kubeconfig: string): Built; remove(): void };

type Command = { readonly cli: string; readonly kubeconfig: string; readonly children: Set<ChildProcess> };

const startIn = ({ cli, kubeconfig, children }: Command, args: readonly string[], input: string): Process => {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nowhere", KUBECONFIG: kubeconfig };
  const child = spawn(process.execPath, [cli, ...args], { env });
  children.add(child);
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => resolve({ code: code ?? 130, out: said.out.trimEnd(), err: said.err.trimEnd() })),
  );
  return { out: () => said.out, err: () => said.err, interrupt: () => child.kill("SIGINT"), ended };
};

/** Puts the bundles into a folder of its own, as the package is published. */
export const openPackage = async (): Promise<Package> => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-cli-"));
  await builtFor(join(folder, "dist"));
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "infra"), join(folder, "infra"));
  const cli = join(folder, "dist", "cli.mjs");
  const children = new Set<ChildProcess>();
  return {
    at: (kubeconfig) => ({
      run: (args, input = "") => startIn({ cli, kubeconfig, children }, args, input).ended,
      start: (args) => startIn({ cli, kubeconfig, children }, args, ""),
    }),
    remove: () => {
      for (const child of children) child.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    },
  };
};
