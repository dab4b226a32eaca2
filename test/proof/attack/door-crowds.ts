/**
 * Crowds at the HTTP endpoint: slow senders, silent connections, floods of strangers; the host serves a signed request
 * among them.
 */
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, must, onDispatcher } from "./attack.ts";
import { asked, type Knock, other, proofOf, signed, step, stranger } from "./doors.ts";
import { fresh, type Stand } from "./stand.ts";

/** Sends bytes as they are. Resolves with the first line of the answer and the duration of the connection, ms. */
const raw = ({ host }: Stand, text: string, drip?: string): Promise<{ readonly line: string; readonly ms: number }> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(host.url);
    const began = performance.now();
    let heard = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    const letters = drip === undefined ? undefined : setInterval(() => socket.writable && socket.write(drip), 400);
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(letters);
      resolve({ line: heard.split("\r\n")[0] ?? "", ms: performance.now() - began });
    });
  });

const heldMs = 13_000;

const slow = (name: string, head: string, drip: string, count: number, short?: true): Attack => ({
  ...{ class: "door", name, stage: "cluster" },
  ...(short === undefined ? {} : { short }),
  run: async (stand) => {
    const crowd = Promise.all(Array.from({ length: count }, () => raw(stand, head, drip)));
    await sleep(1_000);
    const began = performance.now();
    const status = await signed(stand, { path: `/reconcile/Job/mallory/${fresh("good")}` });
    const ms = performance.now() - began;
    must(status === 202, `a good request among them was answered ${status}`);
    must(ms < 2_000, `a good request among them took ${Math.round(ms)} ms`);
    const longest = Math.max(...(await crowd).map((one) => one.ms));
    must(longest < heldMs, `one of them was borne for ${Math.round(longest)} ms`);
    return undefined;
  },
});

const crowds: readonly Attack[] = [
  slow("200 senders of a letter of their headers now and then", "POST /alerts HTTP/1.1\r\nhost: a\r\n", "x", 200),
  slow(
    "200 senders of a letter of their bodies now and then",
    "POST /alerts HTTP/1.1\r\nhost: a\r\ncontent-length: 9000\r\n\r\n",
    "x",
    200,
  ),
  slow("500 connections that say nothing", "", "", 500),
  {
    ...{ class: "door", name: "a request hidden in another", stage: "cluster" },
    run: async (stand) => {
      const inner = "POST /reconcile/Job/default/x HTTP/1.1\r\nhost: a\r\n\r\n";
      const head = `POST /alerts HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`;
      const { line } = await raw(stand, head);
      must(!/ 20\d /.test(line), `answered ${line}`);
      return undefined;
    },
  },
  {
    ...{ class: "door", name: "a request without end in one line", stage: "cluster" },
    run: async (stand) => {
      const { line } = await raw(stand, `GET /${"a".repeat(500_000)} HTTP/1.1\r\n\r\n`);
      must(/ 4\d\d /.test(line) || line === "", `answered ${line}`);
      return undefined;
    },
  },
];

/** The status of a connection that the host closed without an answer: it counts as a refusal. */
const closed = (): number => 429;

/** Sends a signed request from another address than the strangers: failed proofs block their own address. */
const fromElsewhere = (stand: Stand, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = proofOf(stand, { path });
    const options = { method: "POST", headers, localAddress: "127.0.0.2", timeout: 15_000 };
    const sent = request(`${stand.host.url}${path}`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.once("timeout", () => sent.destroy(new Error("no answer within 15 s")));
    sent.once("error", reject);
    sent.end();
  });

/** The statuses of a stranger among a flood: its body may be given up as well, because others wait for room. */
const crowded: readonly number[] = [...stranger, 408];

const flood = (name: string, knock: Knock, how: "forged" | "unsigned", short?: true): Attack => ({
  ...{ class: "door", name, stage: "cluster" },
  ...(short === undefined ? {} : { short }),
  run: async (stand) => {
    const strangers = Array.from({ length: 300 }, async () =>
      (how === "forged" ? signed(stand, knock, { key: other }) : asked(stand, knock)).catch(closed),
    );
    const good = await fromElsewhere(stand, `/reconcile/Job/mallory/${fresh("good")}`);
    const statuses = await Promise.all(strangers);
    must(good === 202, `a good request of another address among 300 strangers was answered ${good}`);
    must(
      statuses.every((status) => crowded.includes(status)),
      `strangers were answered ${[...new Set(statuses)].join(", ")}`,
    );
    must(statuses.includes(429), "no stranger was told to wait");
    return undefined;
  },
});

const floods: readonly Attack[] = [
  flood("300 unsigned requests at once", { path: step }, "unsigned", true),
  flood("300 forged requests of 250 kB at once", { path: "/alerts", body: "x".repeat(250_000) }, "forged"),
  {
    ...{ class: "door", name: "2,000 signed requests of one caller at once are throttled, not lost", stage: "cluster" },
    run: async (stand) => {
      const all = Array.from({ length: 2_000 }, (_, at) =>
        signed(stand, { path: `/reconcile/Job/mallory/n${at}` }).catch(closed),
      );
      const statuses = await Promise.all(all);
      must(
        statuses.every((status) => status === 202 || status === 429),
        `answered ${[...new Set(statuses)].join(", ")}`,
      );
      return undefined;
    },
  },
  {
    ...{ class: "door", name: "a captured request, sent a hundred times, is one", stage: "cluster" },
    run: async (stand) => {
      const path = `/reconcile/Job/mallory/${fresh("captured")}`;
      const headers = proofOf(stand, { path });
      const name = path.split("/").at(-1) ?? path;
      // The door of a dispatcher tells each request that it takes; its queue drops the copies.
      const isStep = (line: string): boolean => line.includes(name) && !line.includes('"message":"sent"');
      const steps = (): number => stand.host.log().split("\n").filter(isStep).length;
      for (let nth = 0; nth < 100; nth += 1) must((await asked(stand, { path, headers })) === 202, "it was refused");
      await sleep(500);
      must(steps() <= 2, `it made ${steps()} steps`);
      return undefined;
    },
  },
];

export const doorCrowds: readonly Attack[] = [...crowds, ...floods, ...onDispatcher([...crowds, ...floods])];
