/** One start of a container: image, environment, sandbox, and its end. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Group, groupName } from "./cgroup.ts";
import { backoff, type Life, logFileOf, messageOfError, pidFileOf, secondsNow } from "./context.ts";
import { environmentOf, expand, type Facts, keysOf, NotThere } from "./env.ts";
import { type Image, imageOf } from "./images.ts";
import { mountsOf } from "./mounts.ts";
import { nameOf, type Terminated } from "./objects.ts";
import { watchProbes } from "./probes.ts";
import { type Running, startProcess, tailOf } from "./process.ts";
import { amount } from "./quantity.ts";
import { isRefused } from "./refusals.ts";
import { type BoundMount, baseEnvironment, commandLine, prepareRoot, type Sandbox, type User } from "./sandbox.ts";
import { standInFor } from "./standins.ts";
import { eitherStops, pauseFor } from "./stopper.ts";
import { terminate } from "./terminate.ts";

const wait = ({ tracked, context }: Life, reason: string, message: string): void => {
  tracked.state = { waiting: { reason, message } };
  context.report();
};

const tell = ({ context, tracked }: Life, type: "Normal" | "Warning", reason: string, message: string): void =>
  context.node.tell(context.pod(), type, reason, message, tracked.spec.name);

/** Returns this machine's software for the image, or its stand-in after the stand-in's start time. */
const found = async ({ context, tracked, stopping }: Life): Promise<Image | undefined> => {
  const { image, command = [], args = [] } = tracked.spec;
  const own = imageOf(context.node.cache, image);
  if (own !== undefined) return own;
  const known = { pod: nameOf(context.pod()), image, command: [...command, ...args] };
  const standIn = standInFor(context.node.standIns, known);
  if (standIn !== undefined) await pauseFor(standIn.startMs, stopping.signal);
  return standIn?.image;
};

/** Retries while the image is unavailable, since that may change. */
const pulled = async (life: Life): Promise<Image> => {
  const { context, tracked, stopping } = life;
  const name = tracked.spec.image;
  for (let tries = 1; ; tries++) {
    const refused = isRefused(context.node.dir, nameOf(context.pod()));
    const image = refused ? undefined : await found(life);
    if (image !== undefined) {
      tell(life, "Normal", "Pulled", `Container image "${name}" already present on machine`);
      return image;
    }
    const cause = refused ? "429 Too Many Requests" : "not in the node agent's table: not found";
    const why = `failed to pull and unpack image "${name}": ${cause}`;
    tell(life, "Normal", "Pulling", `Pulling image "${name}"`);
    tell(life, "Warning", "Failed", `Failed to pull image "${name}": ${why}`);
    tell(life, "Warning", "Failed", "Error: ErrImagePull");
    wait(life, "ErrImagePull", why);
    await pauseFor(Math.min(1000, context.node.settings.backoffMs), stopping.signal);
    tell(life, "Normal", "BackOff", `Back-off pulling image "${name}"`);
    tell(life, "Warning", "Failed", "Error: ImagePullBackOff");
    wait(life, "ImagePullBackOff", `Back-off pulling image "${name}": ErrImagePull: ${why}`);
    await pauseFor(backoff(tries, context.node.settings), stopping.signal);
  }
};

const userOf = ({ context, tracked }: Life, image: Image): User => {
  const pod = context.pod().spec.securityContext ?? {};
  const own = tracked.spec.securityContext ?? {};
  const uid = own.runAsUser ?? pod.runAsUser ?? image.user;
  if ((own.runAsNonRoot ?? pod.runAsNonRoot) && uid === 0)
    throw new NotThere("container has runAsNonRoot and image will run as root");
  const groups = [...(pod.supplementalGroups ?? []), ...(pod.fsGroup === undefined ? [] : [pod.fsGroup])];
  return { uid, gid: own.runAsGroup ?? pod.runAsGroup ?? (uid === image.user ? image.user : 0), groups };
};

const factsOf = ({ context }: Life): Facts => ({
  podIP: context.network()?.ip ?? "",
  hostIP: context.node.ip,
  nodeName: context.node.name,
  allocatable: context.node.allocatable,
});

type Prepared = {
  readonly sandbox: Sandbox;
  readonly env: ReadonlyMap<string, string>;
  readonly messageFile: string;
  readonly group: Group | undefined;
};

const apiEnvironment = (server: URL): Record<string, string> => ({
  KUBERNETES_SERVICE_HOST: server.hostname,
  KUBERNETES_SERVICE_PORT: server.port || "443",
  KUBERNETES_SERVICE_PORT_HTTPS: server.port || "443",
});

const groupOf = ({ context, tracked }: Life): Group | undefined => {
  const limit = tracked.spec.resources?.limits?.["memory"];
  const name = groupName(context.pod().metadata.uid, tracked.spec.name, tracked.restarts);
  return limit === undefined ? undefined : context.node.groups.limited(name, Math.floor(amount(limit)));
};

const commandOf = (life: Life, image: Image, env: ReadonlyMap<string, string>): string[] => {
  const { command, args } = life.tracked.spec;
  if (image.instead !== undefined) return [...image.instead];
  const own = [...(command ?? image.entrypoint), ...(args ?? (command === undefined ? image.command : []))];
  if (own.length === 0) throw new NotThere("no command specified");
  return own.map((word) => expand(word, env));
};

const prepared = async (life: Life, image: Image): Promise<Prepared> => {
  const { context, tracked } = life;
  const pod = context.pod();
  const user = userOf(life, image);
  const hostname = pod.spec.hostname ?? pod.metadata.name;
  const given = { ...baseEnvironment({ image, user, hostname }), ...apiEnvironment(context.node.api.server) };
  const env = await environmentOf(
    pod,
    tracked.spec,
    given,
    factsOf(life),
    keysOf(context.node.api, pod.metadata.namespace),
  );
  const dir = join(context.dir, "containers", tracked.spec.name, String(tracked.restarts));
  const messageFile = join(dir, "termination-log");
  await mkdir(dir, { recursive: true });
  await writeFile(messageFile, "");
  await chmod(messageFile, 0o666);
  const own: BoundMount[] = [
    { from: context.hostsFile, to: "/etc/hosts", readOnly: false },
    { from: messageFile, to: tracked.spec.terminationMessagePath ?? "/dev/termination-log", readOnly: false },
  ];
  const group = groupOf(life);
  const sandbox: Sandbox = {
    root: join(dir, "root"),
    image,
    mounts: [...own, ...(await mountsOf(life, env))],
    hostname,
    workingDir: tracked.spec.workingDir ?? image.workingDir,
    user,
    readOnlyRoot: tracked.spec.securityContext?.readOnlyRootFilesystem ?? false,
    network: context.network()?.namespace,
    procs: group?.procs,
    command: commandOf(life, image, env),
  };
  await prepareRoot(sandbox);
  return { sandbox, env, messageFile, group };
};

/** Retries until the objects to which the container refers exist. */
const preparedInTime = async (life: Life, image: Image): Promise<Prepared> => {
  for (;;) {
    try {
      return await prepared(life, image);
    } catch (error) {
      const why = messageOfError(error);
      const reason = error instanceof NotThere ? "CreateContainerConfigError" : "CreateContainerError";
      tell(life, "Warning", "Failed", `Error: ${why}`);
      wait(life, reason, why);
      await pauseFor(1000, life.stopping.signal);
    }
  }
};

/** Errors of bubblewrap and setpriv begin with their names; those of the command do not. */
const startErrorIn = (logFile: string): string | undefined =>
  /^(?:bwrap: .*|setpriv: failed to execute .*|nsenter: .*)$/m.exec(tailOf(logFile, 2000))?.[0];

const endOf = (life: Life, { messageFile, group }: Prepared, code: number, startedAt: string): Terminated => {
  const { context, tracked } = life;
  const logFile = logFileOf(context.node, context.pod(), tracked.spec.name, tracked.restarts);
  const times = { startedAt, finishedAt: secondsNow(), containerID: tracked.containerID ?? "" };
  const failed = code === 1 || code === 127 ? startErrorIn(logFile) : undefined;
  if (failed !== undefined) {
    tell(life, "Warning", "Failed", `Error: failed to start container: ${failed}`);
    return { exitCode: 128, reason: "StartError", message: failed, ...times };
  }
  const fallsBack = code !== 0 && tracked.spec.terminationMessagePolicy === "FallbackToLogsOnError";
  const message = tailOf(messageFile, 4096) || (fallsBack ? tailOf(logFile, 2048) : "");
  const reason = code === 0 ? "Completed" : code === 137 && group?.wasOomKilled() ? "OOMKilled" : "Error";
  return { exitCode: code, reason, ...(message === "" ? {} : { message }), ...times };
};

const started = async (life: Life, { sandbox, env }: Prepared): Promise<Running> => {
  const { context, tracked } = life;
  const pod = context.pod();
  const logFile = logFileOf(context.node, pod, tracked.spec.name, tracked.restarts);
  await mkdir(dirname(logFile), { recursive: true });
  await writeFile(logFile, "", { flag: "a" });
  await chmod(logFile, 0o666);
  const running = startProcess({ argv: commandLine(sandbox), env, logFile, user: sandbox.user });
  const pidFile = pidFileOf(context.node, pod, tracked.spec.name);
  await mkdir(dirname(pidFile), { recursive: true });
  const written = running.started.then((pid) => (pid === undefined ? undefined : writeFile(pidFile, `${pid}\n`)));
  // Another pod of the same name may have written its pid meanwhile.
  void running.exit.then(async () => {
    await written;
    const pid = await readFile(pidFile, "utf8").catch(() => "");
    if (pid === `${await running.started}\n`) await rm(pidFile, { force: true });
  });
  tell(life, "Normal", "Created", `Container created`);
  tell(life, "Normal", "Started", `Container started`);
  return running;
};

/** Runs the container from its image to its end. Throws Stopped if it was stopped before it started. */
export const runOnce = async (life: Life): Promise<Terminated> => {
  const { context, tracked, stopping } = life;
  const image = await pulled(life);
  const ready = await preparedInTime(life, image);
  stopping.signal.throwIfAborted();
  const startedAt = secondsNow();
  const running = await started(life, ready);
  tracked.running = running;
  tracked.imageID = image.id;
  tracked.containerID = `bwrap://${randomBytes(16).toString("hex")}`;
  tracked.state = { running: { startedAt } };
  const probing = watchProbes(life, running);
  context.report();
  if (tracked.spec.lifecycle?.postStart?.exec !== undefined)
    await running.exec(tracked.spec.lifecycle.postStart.exec.command, 30_000);
  const code = (await eitherStops(running.exit, stopping.signal)) ?? (await terminate(life, running));
  probing.stop();
  tracked.running = undefined;
  tracked.ready = false;
  tracked.started = false;
  const end = endOf(life, ready, code, startedAt);
  tracked.state = { terminated: end };
  ready.group?.close();
  context.report();
  await rm(join(context.dir, "containers", tracked.spec.name, String(tracked.restarts), "root"), {
    recursive: true,
    force: true,
  });
  return end;
};
