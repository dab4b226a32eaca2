/**
 * Puts the running command into its own network and mount namespace, where pods get real addresses and port 443 is
 * free.
 */
import { spawn } from "node:child_process";
import { command } from "../setup/part.ts";

/** The node's address on the bridge, where the API server and the kubelet endpoints listen. */
export const bridgeAddress = "10.244.0.1";

const mark = "REKINDLE_NETNS";

/** The environment of a command that is not Rekindle's own: without the mark, which a host would refuse as a setting. */
export const unmarked = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name !== mark));

/** True if this process is already in a namespace that this module created. */
export const isInside = (): boolean => process.env[mark] === "1";

/** Ends what a command left behind that died before its cleanup. */
const endGroup = (leader: number | undefined): void => {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (Object(error).code !== "ESRCH") throw error;
  }
};

/** Runs this command again inside the namespace, forwards signals, and exits with its exit code. */
const runInside = (): Promise<never> =>
  new Promise((_, reject) => {
    // setpriv: the inner process, and all that it started, end with this one, even by SIGKILL.
    const detached = !process.stdin.isTTY;
    const namespace = ["--net", "--mount", "setpriv", "--pdeathsig", "TERM"];
    const child = spawn("unshare", [...namespace, process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
      stdio: "inherit",
      env: { ...process.env, [mark]: "1" },
      // A process group of its own, which ends as a whole; a shell that a person types in needs the terminal's.
      detached,
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.on("error", (cause) => reject(new Error(`unshare cannot be run: ${cause.message}`, { cause })));
    child.on("exit", (code, signal) => {
      if (detached) endGroup(child.pid);
      process.exit(signal === null ? (code ?? 1) : 1);
    });
  });

/**
 * Sets up lo and the bridge. The bridge's MAC address is fixed: otherwise it would change with every pod, and its
 * neighbours would lose it.
 */
const plugIn = async (): Promise<void> => {
  if ((await command("ip", ["-o", "link"])).includes("cni0")) return;
  for (const line of [
    "link set lo up",
    "link add cni0 address 0a:58:0a:f4:00:01 type bridge",
    `addr add ${bridgeAddress}/16 dev cni0`,
    "link set cni0 up",
  ])
    await command("ip", line.split(" "));
};

/** Returns only inside the namespace, which has no route to the outside network: download everything before. */
export const enterNamespace = async (): Promise<void> => {
  if (!isInside()) {
    if (process.getuid?.() !== 0)
      throw new Error(
        "a network namespace of its own needs root: run this with sudo, or use --no-node for the API server alone",
      );
    await runInside();
  }
  await plugIn();
};
