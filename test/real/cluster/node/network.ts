/** A network namespace with an address for each pod, connected to the bridge of the node. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programPath } from "./images.ts";

export type Network = {
  readonly ip: string;
  /** Undefined for a pod with the node's network. */
  readonly namespace: string | undefined;
  readonly close: () => void;
};

export type Networks = { readonly open: () => Promise<Network> };

const bridge = "cni0";
const gateway = "10.244.0.1";

const run = (program: string, args: readonly string[], input = ""): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(programPath(program), args, { stdio: ["pipe", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`${program}: ${said.trim()}`))));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });

/**
 * Holds the namespace open; prints `ready` once it is inside. It is killed with the agent, and the namespace with it.
 */
const pause = async (): Promise<ChildProcess> => {
  const script = "echo ready; exec sleep infinity";
  const holder = ["--pdeathsig", "KILL", programPath("unshare"), "--net", "sh", "-c", script];
  const child = spawn(programPath("setpriv"), holder, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => reject(new Error("no network namespace can be made")));
    child.stdout.once("data", resolve);
  });
  return child;
};

const hardwareAddress = (ip: string): string =>
  ["0a:58", ...ip.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))].join(":");

const linkName = (ip: string): string => `pod${ip.split(".").slice(2).join("x")}`;

const plugIn = async (ip: string, pid: number): Promise<void> => {
  const link = linkName(ip);
  const peer = `peer name eth0 address ${hardwareAddress(ip)} netns ${pid}`;
  const outer = `link add ${link} type veth ${peer}\nlink set ${link} master ${bridge} up\n`;
  // The kernel removes an ended namespace in the background, so its link may still exist.
  await run("ip", ["-batch", "-"], outer).catch(async () => {
    await run("ip", ["link", "del", link]).catch(() => {});
    await run("ip", ["-batch", "-"], outer);
  });
  const inner = `link set lo up\naddr add ${ip}/16 dev eth0\nlink set eth0 up\nroute add default via ${gateway}\n`;
  await run("nsenter", [`--net=/proc/${pid}/ns/net`, programPath("ip"), "-batch", "-"], inner);
};

/** Addresses rotate: a released one is not soon reused, not even after a restart of the agent. */
const addressPool = (prefix: string, file: string): { take: () => string; give: (ip: string) => void } => {
  const taken = new Set<string>();
  let last = 1;
  try {
    last = Number(readFileSync(file, "utf8"));
  } catch {
    // This is the first start of this node.
  }
  return {
    take: () => {
      for (let tries = 0; tries < 253; tries++) {
        last = last >= 254 ? 2 : last + 1;
        const ip = `${prefix}.${last}`;
        if (taken.has(ip)) continue;
        taken.add(ip);
        writeFileSync(file, String(last));
        return ip;
      }
      throw new Error("no address is free on this node");
    },
    give: (ip) => void taken.delete(ip),
  };
};

export const openNetworks = (nodeNumber: number, dir: string): Networks => {
  const pool = addressPool(`10.244.${nodeNumber}`, join(dir, "last-address"));
  return {
    open: async () => {
      const ip = pool.take();
      const holder = await pause();
      const close = (): void => {
        holder.kill("SIGKILL");
        pool.give(ip);
      };
      try {
        const pid = holder.pid ?? 0;
        await plugIn(ip, pid);
        return { ip, namespace: `/proc/${pid}/ns/net`, close };
      } catch (error) {
        close();
        throw error;
      }
    },
  };
};

/** Adds the node's own address; the first node's is the bridge's. */
export const claimNodeAddress = async (nodeNumber: number): Promise<string> => {
  const ip = `10.244.0.${nodeNumber}`;
  if (nodeNumber !== 1)
    await run("ip", ["addr", "add", `${ip}/16`, "dev", bridge]).catch((error: unknown) => {
      if (!/File exists|already assigned/.test(String(error))) throw error;
    });
  return ip;
};
