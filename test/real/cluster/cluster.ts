/** A whole cluster for a test: control plane, nodes, and their cleanup. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "./controlplane.ts";
import { isInside } from "./netns.ts";
import type { StandInRow } from "./node/standins.ts";
import { type Node, startNode } from "./nodes.ts";

export type ClusterOptions = Pick<ControlPlaneOptions, "extra" | "release"> & {
  /** Number of node agents; 0 is an API server without nodes. */
  readonly nodes: number;
  /** Folder that keeps data and logs; without it they go to a temporary folder that is removed at the end. */
  readonly dir?: string;
  /** Flags appended to every node agent. */
  readonly nodeFlags?: readonly string[];
  /** The stand-ins that its nodes run for images that this machine lacks. */
  readonly standIns?: readonly StandInRow[];
};

export type Cluster = ControlPlane & {
  readonly nodes: readonly Node[];
  /** Adds a node; the name of a killed node replaces it, at its place in `nodes`. */
  readonly addNode: (name?: string) => Promise<Node>;
};

/** Resolves when every node is Ready and pods can be created in the default namespace. */
export const startCluster = async (options: ClusterOptions): Promise<Cluster> => {
  if (options.nodes > 0 && !isInside()) throw new Error("nodes need a network namespace: call enterNamespace() first");
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), "rekindle-cluster-")));
  const { extra, release } = options;
  const chosen = { ...(extra === undefined ? {} : { extra }), ...(release === undefined ? {} : { release }) };
  const plane = await startControlPlane({ dir, ...chosen });
  const nodes: Node[] = [];
  const standIns = join(dir, "stand-ins.json");
  await writeFile(standIns, JSON.stringify(options.standIns ?? []));
  const flags = [...(options.nodeFlags ?? []), "--stand-ins", standIns];
  const addNode = async (name = `node-${nodes.length + 1}`): Promise<Node> => {
    const node = await startNode(plane, name, flags);
    const before = nodes.findIndex((one) => one.name === name);
    nodes.splice(before < 0 ? nodes.length : before, before < 0 ? 0 : 1, node);
    return node;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    await plane.stop();
    if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    for (let count = 0; count < options.nodes; count++) await addNode();
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await plane.api.until(account, (reply) => reply.status === 200, 30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...plane, nodes, addNode, stop };
};
