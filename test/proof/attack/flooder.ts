/** The sender of a flood, on a thread of its own: what it sends is much, and must not delay the judge. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as secureConnect } from "node:tls";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import * as z from "zod";

const target = z.object({ port: z.number(), secure: z.boolean() });

const flood = z.object({
  connections: z.number(),
  /** What each connection sends, as it is, and then so many letters. */
  sends: z.string(),
  letters: z.number().default(0),
  /** Sent again and again, every 100 ms. */
  drip: z.string().optional(),
  /** The number of addresses that it comes from; absent: the one of honest callers. */
  addresses: z.number().optional(),
  /** True: a connection that ends is opened again. */
  again: z.boolean().optional(),
  /** True: TLS is not begun. */
  plain: z.boolean().optional(),
});

export type Target = z.infer<typeof target>;
export type Flood = z.input<typeof flood>;

const shape = z.object({ target, flood });
type Task = z.infer<typeof shape>;

/** A flood lasts so long, and until enough honest requests were asked, but not longer. */
const [heldMs, longestMs] = [6_000, 60_000];

const opened = ({ target: { port, secure }, flood: { addresses, plain } }: Task, at: number) => {
  const localAddress = addresses === undefined ? "127.0.0.1" : `127.0.1.${1 + (at % addresses)}`;
  const tcp = connect({ port, host: "127.0.0.1", localAddress });
  const socket: Socket = secure && plain !== true ? secureConnect({ socket: tcp, rejectUnauthorized: false }) : tcp;
  for (const one of [tcp, socket]) one.on("error", () => {});
  return { socket, ready: socket === tcp ? "connect" : "secureConnect" };
};

/** Sends in pieces, each when the one before has left: what the other side does not read is not held here. */
const sent = (socket: Socket, { sends, letters }: Task["flood"]): void => {
  const piece = "x".repeat(65_536);
  let left = letters;
  const more = (): void => {
    if (left <= 0 || socket.destroyed) return;
    const text = piece.slice(0, left);
    left -= text.length;
    socket.write(text, more);
  };
  socket.write(sends, more);
};

const sending = async (task: Task, isEnough: () => boolean): Promise<void> => {
  const [least, most] = [performance.now() + heldMs, performance.now() + longestMs];
  const isOver = (): boolean => performance.now() > most || (performance.now() > least && isEnough());
  const { connections, drip, again } = task.flood;
  const open = (at: number): void => {
    const { socket, ready } = opened(task, at);
    socket.once(ready, () => sent(socket, task.flood));
    const drips = drip === undefined ? undefined : setInterval(() => socket.writable && socket.write(drip), 100);
    socket.once("close", () => {
      clearInterval(drips);
      if (again === true && !isOver()) setTimeout(() => open(at), 20);
    });
    // A client that never reads.
    socket.pause();
  };
  for (let at = 0; at < connections; at += 1) {
    open(at);
    if (at % 50 === 49) await sleep(1);
  }
  while (!isOver()) await sleep(100);
};

/** Floods a port for some seconds, and until `enough` was called, and ends all connections. */
export const flooding = (where: Target, what: Flood): { readonly over: Promise<void>; readonly enough: () => void } => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { target: where, flood: what } });
  const sent = new Promise<void>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  return {
    over: sent.then(async () => void (await worker.terminate())),
    enough: () => worker.postMessage("enough"),
  };
};

if (!isMainThread) {
  let isEnough = false;
  parentPort?.once("message", () => {
    isEnough = true;
  });
  await sending(shape.parse(workerData), () => isEnough);
  parentPort?.postMessage("over");
}
