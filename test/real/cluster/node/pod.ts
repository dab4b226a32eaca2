/** One pod, from the agent's first reading until its removal. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Life, messageOfError, type NodeContext, type PodContext, secondsNow, type Tracked } from "./context.ts";
import { type Facts, keysOf } from "./env.ts";
import { writeHosts } from "./hosts.ts";
import { keepRunning } from "./keep.ts";
import type { Network } from "./network.ts";
import { type ContainerState, isTerminal, type Pod } from "./objects.ts";
import { removePod, reporterOf } from "./report.ts";
import type { SourceContext } from "./sources.ts";
import { podStatusOf, type Seen } from "./status.ts";
import { pauseFor, Stopped, stopper } from "./stopper.ts";
import { track, wasRunning } from "./track.ts";
import { mountVolumes, type Volumes, volumesOf } from "./volumes.ts";

export type Worker = {
  readonly pod: () => Pod;
  readonly address: () => string | undefined;
  readonly update: (pod: Pod) => void;
  /** The pod is gone from the API: kills every process of it. */
  readonly vanish: () => void;
  readonly rewriteHosts: () => void;
  readonly tracked: readonly Tracked[];
  /** Resolves when nothing of the pod is left. */
  readonly done: Promise<void>;
};

const waiting = (reason: string): ContainerState => ({ waiting: { reason } });

export const runPod = (node: NodeContext, first: Pod): Worker => {
  let pod = first;
  let vanished = false;
  let network: Network | undefined;
  let volumes: Volumes | undefined;
  let end: Seen["end"];
  const dir = join(node.dir, "pods", first.metadata.uid);
  const hostsFile = join(dir, "hosts");
  const paths = new Map<string, string>();
  const mains = stopper();
  const sidecars = stopper();
  const deleted = Promise.withResolvers<void>();
  const startTime = first.status?.startTime ?? secondsNow();
  const tracked = track(first);
  const lastAddress = (): string | undefined => network?.ip ?? pod.status?.podIP;

  const compute = (before: Parameters<typeof podStatusOf>[1]): ReturnType<typeof podStatusOf> =>
    podStatusOf({ pod, tracked, startTime, podIP: lastAddress(), hostIP: node.ip, end }, before);
  const reporter = reporterOf(node.api, first, compute, node.log);

  const context: PodContext = {
    node,
    dir,
    hostsFile,
    pod: () => pod,
    network: () => network,
    volumes: paths,
    fixedVolumes: () => volumes?.fixed ?? new Set(),
    report: reporter.touch,
  };
  const lifeOf = (one: Tracked): Life => ({
    context,
    tracked: one,
    stopping: one.role === "sidecar" ? sidecars : mains,
  });
  const facts = (): Facts => ({
    podIP: network?.ip ?? "",
    hostIP: node.ip,
    nodeName: node.name,
    allocatable: node.allocatable,
  });
  const sources = (): SourceContext => ({
    api: node.api,
    pod,
    facts: facts(),
    keys: keysOf(node.api, pod.metadata.namespace),
  });

  /** Retries until `act` succeeds: objects that a volume needs are often created after the pod. */
  const insist = async (reason: string, act: () => Promise<void>): Promise<void> => {
    for (let tries = 0; ; tries++) {
      try {
        return await act();
      } catch (error) {
        if (tries % 10 === 0) node.tell(pod, "Warning", reason, messageOfError(error));
        await pauseFor(Math.min(2000, 100 * 1.5 ** tries), mains.signal);
      }
    }
  };

  const rewriteHosts = (): void => {
    if (network !== undefined && end === undefined) writeHosts(hostsFile, node.hostsFor(pod, network.ip));
  };

  const prepare = async (): Promise<void> => {
    await mkdir(dir, { recursive: true });
    const root = join(dir, "volumes");
    volumes = volumesOf(root, paths, pod.spec.volumes ?? []);
    await insist("FailedMount", () => mountVolumes(root, sources(), paths));
    await insist("FailedCreatePodSandBox", async () => {
      if (pod.spec.hostNetwork) network = { ip: node.ip, namespace: undefined, close: () => {} };
      else network = await node.networks.open();
    });
    mains.signal.throwIfAborted();
    rewriteHosts();
    reporter.touch();
  };

  const background: Promise<unknown>[] = [];
  const startSidecar = async (one: Tracked): Promise<void> => {
    background.push(keepRunning(lifeOf(one)).catch(ignoreStop));
    while (!one.started) await pauseFor(20, mains.signal);
  };

  /** Runs the init containers in order; false if one failed for good. */
  const initialize = async (): Promise<boolean> => {
    for (const one of tracked.filter(({ role }) => role !== "main")) {
      if (one.role === "sidecar") await startSidecar(one);
      else if ((await keepRunning(lifeOf(one))).exitCode !== 0) return false;
      mains.signal.throwIfAborted();
    }
    return true;
  };

  const runMains = async (): Promise<void> => {
    const all = tracked.filter(({ role }) => role === "main");
    for (const one of all) one.state = waiting("ContainerCreating");
    const ends = await Promise.all(all.map((one) => keepRunning(lifeOf(one)).catch(ignoreStop)));
    if (ends.every((one) => one?.exitCode === 0)) end = { phase: "Succeeded" };
  };

  const run = async (): Promise<void> => {
    const limit = pod.spec.activeDeadlineSeconds;
    const deadline = limit === undefined ? undefined : setTimeout(() => pastDeadline(), limit * 1000);
    const refresh = setInterval(() => void volumes?.refresh(sources()).catch(() => {}), node.settings.refreshMs);
    reporter.touch();
    try {
      await prepare();
      if (await initialize()) await runMains();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      clearTimeout(deadline);
      clearInterval(refresh);
    }
  };

  let overdue = false;
  const pastDeadline = (): void => {
    overdue = true;
    mains.stop(graceMs());
  };
  const graceMs = (): number =>
    (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;

  const stopSidecars = async (): Promise<void> => {
    sidecars.stop(mains.signal.aborted ? Math.max(0, mains.deadline() - performance.now()) : graceMs());
    await Promise.all(background);
  };

  const finish = async (): Promise<void> => {
    // A process still runs here only after a fault of the agent itself.
    for (const { running } of tracked) running?.kill();
    end ??= { phase: "Failed" };
    if (overdue)
      end = {
        phase: "Failed",
        reason: "DeadlineExceeded",
        message: "Pod was active on the node longer than the specified deadline",
      };
    network?.close();
    reporter.touch();
    await volumes?.close();
    await rm(dir, { recursive: true, force: true });
    await reporter.flush();
  };

  /** Its processes ended with an earlier agent, and its restart policy forbids a new start. */
  const isLost = wasRunning(first) && (first.spec.restartPolicy ?? "Always") === "Never";

  const live = async (): Promise<void> => {
    if (!isTerminal(first)) {
      if (!isLost) await run().catch((error: unknown) => node.log(`${pod.metadata.name}: ${messageOfError(error)}`));
      await stopSidecars();
      await finish();
    }
    await deleted.promise;
    if (!vanished) await removePod(node.api, pod, node.log);
    reporter.close();
  };

  const update = (newer: Pod): void => {
    pod = newer;
    if (newer.metadata.deletionTimestamp === undefined) return;
    mains.stop(graceMs());
    if (sidecars.signal.aborted) sidecars.stop(graceMs());
    deleted.resolve();
  };

  const vanish = (): void => {
    vanished = true;
    reporter.close();
    mains.stop(0);
    sidecars.stop(0);
    deleted.resolve();
  };

  update(first);
  return {
    pod: () => pod,
    address: () => (end === undefined ? network?.ip : undefined),
    update,
    vanish,
    rewriteHosts,
    tracked,
    done: live(),
  };
};

const ignoreStop = (error: unknown): undefined => {
  if (!(error instanceof Stopped)) throw error;
  return undefined;
};
