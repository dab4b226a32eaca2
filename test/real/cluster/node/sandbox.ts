/**
 * A container as a command line: bubblewrap with the image's software and the pod's files, without the rest of this
 * machine.
 */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Bind, type Image, programPath } from "./images.ts";

export type BoundMount = Bind & { readonly readOnly: boolean };

export type User = { readonly uid: number; readonly gid: number; readonly groups: readonly number[] };

export type Sandbox = {
  readonly root: string;
  readonly image: Image;
  readonly mounts: readonly BoundMount[];
  readonly hostname: string;
  readonly workingDir: string;
  readonly user: User;
  readonly readOnlyRoot: boolean;
  readonly network: string | undefined;
  /** The file to which the process writes its pid to get a memory limit. */
  readonly procs: string | undefined;
  readonly command: readonly string[];
};

/** The entries of /etc that programs need to run; this machine's names, users and secrets stay outside. */
const etc = ["ssl", "ca-certificates", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "mime.types"];
const etcMore = ["protocols", "services", "localtime", "timezone", "terminfo", "fonts", "java-17-openjdk", "python3"];

const top = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

const homeOf = (user: User): string => (user.uid === 0 ? "/root" : user.uid === 185 ? "/home/spark" : "/");

/** Returns the accounts of an image; an unknown user gets a name too, since Hadoop needs one. */
const accounts = (user: User): string => {
  const known = [
    "root:x:0:0:root:/root:/bin/sh",
    "nobody:x:65534:65534::/:/bin/sh",
    "spark:x:185:185::/home/spark:/bin/sh",
  ];
  const isKnown = known.some((line) => line.split(":")[2] === String(user.uid));
  return `${[...known, ...(isKnown ? [] : [`user:x:${user.uid}:${user.gid}::/:/bin/sh`])].join("\n")}\n`;
};

/** Creates the empty root for all mounts; writes outside of volumes land here. */
export const prepareRoot = async ({ root, image, user, hostname, mounts, workingDir }: Sandbox): Promise<void> => {
  const under = (path: string): string => join(root, path);
  const plain = ["etc", "opt", "root", "home", "run", "var/run", "usr", "proc", "dev", "mnt", "srv", "sys"];
  for (const path of plain) await mkdir(under(path), { recursive: true });
  for (const path of ["tmp", "var/tmp", ...image.writable, "home/spark"]) {
    await mkdir(under(path), { recursive: true });
    await chmod(under(path), 0o1777);
  }
  await writeFile(under("etc/passwd"), accounts(user));
  await writeFile(under("etc/group"), "root:x:0:\nspark:x:185:\nnogroup:x:65534:\n");
  await writeFile(under("etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n");
  await writeFile(under("etc/resolv.conf"), "options timeout:1 attempts:1\n");
  await writeFile(under("etc/hostname"), `${hostname}\n`);
  for (const { from, to } of image.binds) {
    await mkdir(dirname(under(to)), { recursive: true });
    if (lstatSync(from).isFile() && from.endsWith(".sh")) await copyFile(from, under(to));
  }
  // Mount points that bubblewrap creates itself would be inaccessible to other users.
  for (const path of [...mounts.map(({ to }) => dirname(to)), workingDir])
    await mkdir(under(path), { recursive: true });
};

const systemArgs = (): string[] =>
  top.flatMap((name) => {
    const path = `/${name}`;
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });

const etcArgs = (): string[] =>
  [...etc, ...etcMore]
    .map((name) => `/etc/${name}`)
    .filter((path) => existsSync(path))
    .flatMap((path) => ["--ro-bind", path, path]);

/** Sorts parents before the mounts inside them. */
const byDepth = (left: BoundMount, right: BoundMount): number => left.to.split("/").length - right.to.split("/").length;

const mountArgs = (mounts: readonly BoundMount[]): string[] =>
  mounts.toSorted(byDepth).flatMap(({ from, to, readOnly }) => [readOnly ? "--ro-bind" : "--bind", from, to]);

const asUser = ({ uid, gid, groups }: User): string[] => {
  if (uid === 0 && gid === 0 && groups.length === 0) return [];
  const more = groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`;
  return [programPath("setpriv"), `--reuid=${uid}`, `--regid=${gid}`, more, "--"];
};

/** Returns the whole command line. On descriptor 3 bubblewrap reports the sandbox's first process. */
export const commandLine = (sandbox: Sandbox): string[] => {
  const { root, image, mounts, hostname, workingDir, user, readOnlyRoot, network, procs, command } = sandbox;
  const binds = image.binds.filter(({ from }) => !from.endsWith(".sh")).map((bind) => ({ ...bind, readOnly: true }));
  return [
    ...(procs === undefined ? [] : ["/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, procs]),
    ...(network === undefined ? [] : [programPath("nsenter"), `--net=${network}`, "--"]),
    programPath("bwrap"),
    ...["--bind", root, "/", "--ro-bind", "/usr", "/usr", ...systemArgs(), ...etcArgs()],
    ...["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"],
    ...mountArgs(binds),
    ...mountArgs(mounts),
    ...(readOnlyRoot ? ["--remount-ro", "/"] : []),
    ...["--unshare-pid", "--unshare-uts", "--unshare-ipc", "--hostname", hostname.slice(0, 63)],
    ...["--die-with-parent", "--new-session", "--chdir", workingDir, "--info-fd", "3", "--"],
    ...asUser(user),
    ...command,
  ];
};

/** Returns the variables that precede the container's own. */
export const baseEnvironment = (sandbox: Pick<Sandbox, "image" | "user" | "hostname">): Record<string, string> => ({
  ...sandbox.image.env,
  HOME: homeOf(sandbox.user),
  HOSTNAME: sandbox.hostname,
});
