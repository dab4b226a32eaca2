/** Builds the image step by step from its Containerfile, and starts it as a container would start. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/port.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { recordOf } from "../lambda/cloud.ts";
import { type Check, install } from "./accepted.ts";
import { type Built, build } from "./containerfile.ts";

const file = "infra/Containerfile";

type Begun = { readonly child: ChildProcess; readonly said: () => string };

/** Starts the program as the image's user, if this process may change its user. */
const begin = (
  { root, env, cwd, user }: Built,
  line: readonly string[],
  more: Readonly<Record<string, string>>,
): Begun => {
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  const [, ...args] = line.map((word) => (word.startsWith("/") ? join(root, word) : word));
  const child = spawn(process.execPath, args, {
    cwd: join(root, cwd),
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "pipe"],
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  return { child, said: () => said.trim().split("\n").slice(-5).join("\n") };
};

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve) => child.once("exit", (code) => resolve(code)));

const longestMs = 30_000;

/** Returns the status of the last answer; 0 if none came in time. */
const answers = async (url: string, { child }: Begun): Promise<number> => {
  const until = performance.now() + longestMs;
  let status = 0;
  while (status !== 200 && performance.now() < until && child.exitCode === null) {
    await sleep(200);
    status = await fetch(url).then(
      (answer) => answer.status,
      () => status,
    );
  }
  return status;
};

/** Starts the program, requests its health, and stops it, as a kubelet would. */
const lived = async (
  built: Built,
  line: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const at = `127.0.0.1:${await freePort()}`;
  const begun = begin(built, line, { ...more, REKINDLE_LISTEN: at });
  try {
    const found = await Promise.all(["healthz", "readyz"].map((path) => answers(`http://${at}/${path}`, begun)));
    if (found.some((status) => status !== 200))
      return [`${line.join(" ")}: /healthz, /readyz answer ${found.join(", ")}; it said: ${begun.said()}`];
  } finally {
    begun.child.kill("SIGTERM");
  }
  const code = await ended(begun.child);
  return code === 0 ? [] : [`${line.join(" ")} ended with ${code} when it was told to stop: ${begun.said()}`];
};

/** Reports modules of a function that its container compiles anew although the image has them compiled. */
const compiled = async ({ root, env, cwd, user }: Built): Promise<readonly string[]> => {
  const [uid = 0, gid = 0] = user.split(":").map(Number);
  const child = spawn(process.execPath, ["-e", 'import("./dist/reconcile.mjs")'], {
    cwd: join(root, cwd),
    env: { ...env, NODE_DEBUG_NATIVE: "COMPILE_CACHE" },
    stdio: ["ignore", "ignore", "pipe"],
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await ended(child);
  const found = [...said.matchAll(/V8 code cache for ESM file:\S*\/(\S+) was (accepted|not initialized|rejected)/g)];
  const anew = found.filter(([, , how]) => how !== "accepted").map(([, module]) => module);
  if (found.length < 3) return [`a container looks up ${found.length} compiled modules of reconcile`];
  return anew.length === 0 ? [] : [`a container compiles ${anew.join(", ")} of reconcile anew`];
};

/** Reports packages that remain in the image, and a user without a numeric id. */
const leftovers = async ({ root, user }: Built): Promise<readonly string[]> => {
  const app = await readdir(join(root, "app"));
  return [
    ...(app.includes("node_modules") ? ["packages are in the image, and the bundles need none"] : []),
    ...(/^[1-9]\d*:[1-9]\d*$/.test(user) ? [] : [`it runs as ${user}: name a user by number, for runAsNonRoot`]),
  ];
};

const checked = async (cluster: Cluster, dir: string): Promise<readonly string[]> => {
  // A step of another user than this process reads its files.
  await chmod(dir, 0o755);
  const built = await build(await readFile(file, "utf8"), process.cwd(), dir);
  const { stdout } = await cluster.kubectl(["kustomize", "infra/kubernetes/overlays/lambda"]);
  await install(cluster, stdout);
  const { stdout: host } = await cluster.kubectl(["kustomize", "infra/kubernetes/overlays/host"]);
  await install(cluster, host);
  const kubeconfig = join(dir, "kubeconfig");
  await copyFile(await cluster.kubeconfigOf("rekindle", "rekindle"), kubeconfig);
  await chmod(kubeconfig, 0o644);
  const forward = await recordOf(await cluster.kubeconfigOf("rekindle", "rekindle-forward"));
  const queue = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "x", AWS_SECRET_ACCESS_KEY: "x" };
  const fifo = { REKINDLE_FIFO_URL: "https://127.0.0.1:9/keys.fifo", REKINDLE_CLUSTER_RECORD: forward };
  return [
    ...(await leftovers(built)),
    ...(await compiled(built)),
    ...(await lived(built, [...built.entrypoint, ...built.args], {
      KUBECONFIG: kubeconfig,
      HOME: dirname(kubeconfig),
    })),
    ...(await lived(built, ["node", "/app/dist/forward.mjs"], { ...queue, ...fifo })),
  ];
};

export const imageChecks = (cluster: Cluster): readonly Check[] => [
  {
    name: "the Containerfile's steps make an image whose host and forwarder are well, as nobody",
    run: async () => {
      const dir = await mkdtemp(join(tmpdir(), "rekindle-image-"));
      try {
        return await checked(cluster, dir);
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    },
  },
];
