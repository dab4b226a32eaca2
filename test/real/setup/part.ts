/** A part of the set-up, and the helpers of all parts: the cache folder and running a command. */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export type Part = {
  readonly name: string;
  /** The purpose of the part: the commands that need it. */
  readonly why: string;
  /** The cost of the installation, for people: size and time. */
  readonly sizeHint: string;
  /** Parts that must be installed first. */
  readonly needs: readonly string[];
  /** Programs of the operating system that it calls; absent: none. They are looked for before anything is installed. */
  readonly programs?: Programs;
  /** Must be cheap: it is called on every run. */
  readonly isReady: () => Promise<boolean>;
  readonly install: (say: Say) => Promise<void>;
};

/** Program → the Debian package that contains it, or where else it comes from. */
export type Programs = Readonly<Record<string, string | { readonly from: string }>>;

/** Prints one line of progress. */
export type Say = (line: string) => void;

/**
 * Returns the folder of everything that is built or downloaded, outside the repository. REKINDLE_CACHE overrides it.
 */
export const cacheDir = (): string => process.env["REKINDLE_CACHE"] ?? join(homedir(), ".cache", "rekindle");

type Options = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the command's output as it is printed. */
  readonly hear?: (text: string) => void;
};

/** Runs a command to its end and returns its output; an error has the end of that output. */
export const command = (program: string, args: readonly string[], options: Options = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      const text = chunk.toString();
      said += text;
      options.hear?.(text);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (cause) => reject(new Error(`${program} cannot be run: ${cause.message}`, { cause })));
    child.on("close", (code) => {
      if (code === 0) return resolve(said);
      const end = said.trim().split("\n").slice(-12).join("\n");
      reject(new Error(`${[program, ...args].slice(0, 4).join(" ")} ended with ${code}:\n${end}`));
    });
  });

/** Bytes of the files below a folder; those that go meanwhile are not counted. */
const bytesIn = async (dir: string): Promise<number> => {
  const files = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name)).catch(() => undefined))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

export type Growth = {
  readonly say: Say;
  /** What is to come in all, in words. */
  readonly of: string;
  readonly everyMs?: number;
};

/** Says every 10 s how many bytes have arrived in a folder, until `stop` is called. */
const reporting = (dir: string, { say, of, everyMs = 10_000 }: Growth): { readonly stop: () => void } => {
  const began = Date.now();
  const timer = setInterval(() => {
    bytesIn(dir)
      .then((bytes) => {
        const after = Math.round((Date.now() - began) / 1_000);
        say(`${(bytes / 1_000_000).toFixed(1)} MB so far, after ${after} s (${of})`);
      })
      .catch(() => {});
  }, everyMs);
  return { stop: () => clearInterval(timer) };
};

/**
 * Fills a temporary folder and moves it to its place when it is complete, so that the cache has no incomplete folders.
 * With `growth` it reports what has arrived so far.
 */
export const intoPlace = async (
  place: string,
  fill: (dir: string) => Promise<void>,
  growth?: Growth,
): Promise<void> => {
  await mkdir(dirname(place), { recursive: true });
  const dir = await mkdtemp(`${place}.part-`);
  const reports = growth === undefined ? undefined : reporting(dir, growth);
  try {
    await fill(dir);
    reports?.stop();
    // Pods may run as another user.
    await chmod(dir, 0o755);
    await rm(place, { recursive: true, force: true });
    await rename(dir, place);
  } finally {
    reports?.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

/** Runs pip in a folder, where it downloads into `tmp`, so that the folder shows how far it is. */
export const pipInstall = async (dir: string, args: readonly string[]): Promise<void> => {
  const tmp = join(dir, "tmp");
  await mkdir(tmp);
  await command("python3", ["-m", "pip", "install", ...args], { env: { TMPDIR: tmp } });
  await rm(tmp, { recursive: true, force: true });
};
