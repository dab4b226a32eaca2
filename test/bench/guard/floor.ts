/**
 * The floor of a workload as a separate process: sends recorded requests, eight at a time on kept connections, to a
 * server that gives the recorded answers, parses each answer as JSON, and reports its processor time. Its first argument
 * is the server's URL, its second the file of the requests.
 */
import { readFileSync } from "node:fs";
import { Agent, request as requestOf } from "node:http";
import { text } from "node:stream/consumers";

type Request = { readonly method: string; readonly path: string; readonly body: string };

const [url = "", file = ""] = process.argv.slice(2);
const requests: readonly Request[] = JSON.parse(readFileSync(file, "utf8"));
const { hostname, port } = new URL(url);
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

const answerOf = (index: number, { method, path, body }: Request): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "x-exchange": String(index), "content-type": "application/json", accept: "application/json" };
    const sent = requestOf({ hostname, port, agent, method, path, headers }, (answer) => {
      text(answer).then(resolve, reject);
    });
    sent.once("error", reject);
    // The host makes this text from an object, so the floor does, too.
    sent.end(body === "" ? "" : JSON.stringify(JSON.parse(body)));
  });

let parsed = 0;
const since = process.cpuUsage();
const indices = requests.entries();
/** False for the text by which a server says that it does not serve a kind, as Kueue's where Kueue is missing. */
const isJson = (line: string): boolean => line.startsWith("{");

const worker = async (): Promise<void> => {
  for (const [index, request] of indices)
    for (const line of (await answerOf(index, request)).split("\n")) if (isJson(line) && JSON.parse(line)) parsed += 1;
};
await Promise.all(Array.from({ length: 8 }, worker));
const { user, system } = process.cpuUsage(since);
process.send?.({ cpu: (user + system) / 1e6, parsed });
agent.destroy();
process.disconnect?.();
