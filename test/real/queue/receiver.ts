/**
 * A function's process for the dispatcher's tests: it prints the batch of each call. It never answers, or answers that
 * all is done; the first call it may refuse with a status. `node receiver.ts PORT done|never|STATUS [RETRY-AFTER]`
 */
import { createServer } from "node:http";

const [port = "0", mode = "done", retry] = process.argv.slice(2);

let refuses = /^\d+$/.test(mode);

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    process.stdout.write(`${body}\n`);
    if (mode === "never") return;
    if (refuses) response.writeHead(Number(mode), retry === undefined ? {} : { "retry-after": retry }).end();
    else response.end(JSON.stringify({ batchItemFailures: [] }));
    refuses = false;
  });
});

server.listen(Number(port), "127.0.0.1", () => process.stdout.write("listening\n"));
