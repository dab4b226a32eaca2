/**
 * A worker for the tests of NATS, as a process: it takes messages and prints `begin GROUP REASON NS` and `end GROUP REASON NS`
 * around each, with the time of the machine's monotonic clock. `node nats-worker.ts URL QUEUE STEP-MS VISIBILITY-MS`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startPoller } from "../../../shared/adapters/poller.ts";
import { readMessage } from "../../../shared/engine/message.ts";
import { openNatsWorker } from "./nats.ts";

const [url = "", queue = "", stepMs = "0", lockMs = "2000"] = process.argv.slice(2);

const { receiver } = await openNatsWorker(url, queue, { lockMs: Number(lockMs) });

startPoller({
  receiver,
  take: async (messages) => {
    const [first] = messages;
    const reasons = messages.map(({ body }) => readMessage(body)?.reason ?? "").join(",");
    process.stdout.write(`begin ${first?.group} ${reasons} ${process.hrtime.bigint()}\n`);
    await sleep(Number(stepMs));
    process.stdout.write(`end ${first?.group} ${reasons} ${process.hrtime.bigint()}\n`);
    return [];
  },
  parallel: 4,
  againMs: 0,
  report: () => {},
  pause: async (ms) => void (await sleep(ms)),
});
process.stdout.write("ready\n");
