// The one door of every npm script: it finds a Node that runs TypeScript (24 or later) and hands over, or says what to do.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packaged = join(root, "node_modules", "node", "bin", "node");

/** Path of a Node that is new enough: this one, or the one of the npm package `node`. */
const findNode = () => {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  return existsSync(packaged) ? packaged : undefined;
};

const refuse = () => {
  console.error(
    existsSync(join(root, "node_modules", "node"))
      ? "rekindle: the npm package `node` has not unpacked its binary; run: npm rebuild node --ignore-scripts=false"
      : `rekindle: needs Node 24 or later (this is ${process.versions.node}); run: npm install`,
  );
  process.exit(1);
};

/** Runs a script of this package with the Node found; signals go on to it, its exit code comes back. */
export const enter = (script, args) => {
  const node = findNode();
  if (node === undefined) return refuse();
  const path = `${dirname(node)}:${join(root, "node_modules", ".bin")}:${process.env.PATH ?? ""}`;
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
    stdio: "inherit",
    env: { ...process.env, PATH: path },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(signal ? 128 + 15 : (code ?? 1)));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) enter(process.argv[2] ?? "", process.argv.slice(3));
