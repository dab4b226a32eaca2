// The one door of every npm script: it finds a Node that is new enough (package.json, engines) and hands over, or says what to do.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packaged = join(root, "node_modules", "node", "bin", "node");

/** The oldest Node that Rekindle runs on, such as `24.2`: package.json says it, and nothing else does. */
export const floor = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines.node.replace(">=", "");

/** The refusal of a Node that is too old; undefined for one that is new enough. */
export const refusalOf = (version) => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = floor.split(".").map(Number);
  const isNewEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return isNewEnough ? undefined : `rekindle: needs Node ${floor} or later (this is ${version})`;
};

/** Path of a Node that is new enough: this one, or the one of the npm package `node`. */
const findNode = () => {
  if (refusalOf(process.versions.node) === undefined) return process.execPath;
  return existsSync(packaged) ? packaged : undefined;
};

const refuse = () => {
  console.error(
    existsSync(join(root, "node_modules", "node"))
      ? "rekindle: the npm package `node` has not unpacked its binary; run: npm rebuild node --ignore-scripts=false"
      : `${refusalOf(process.versions.node)}; run: npm install`,
  );
  process.exit(1);
};

/** Runs a script of this package with the Node found; signals go on to it, its exit code comes back. */
export const enter = (script, args) => {
  const node = findNode();
  if (node === undefined) return refuse();
  const path = `${dirname(node)}:${join(root, "node_modules", ".bin")}:${process.env.PATH ?? ""}`;
  // Sources are compiled once, not by each process: that is half of the processor time in which a command starts.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "node");
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
    stdio: "inherit",
    env: { ...process.env, PATH: path, NODE_COMPILE_CACHE },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(signal ? 128 + 15 : (code ?? 1)));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) enter(process.argv[2] ?? "", process.argv.slice(3));
