// A cold process: loads one built function, gives it its events one after the other, and prints the user CPU of each part.
// Arguments: path of the bundle, events as JSON.
const userMs = () => process.cpuUsage().user / 1_000;
const nodeMs = userMs();
const [, , path, events] = process.argv;
process.argv = [process.argv[0], path, "--version"];
const loaded = await import(path);
const spans = { nodeMs, importMs: userMs() - nodeMs, eventMs: [], answers: [] };
for (const event of JSON.parse(events)) {
  const before = userMs();
  spans.answers.push(await loaded.handler(event));
  spans.eventMs.push(userMs() - before);
}
console.log(`\n${JSON.stringify(spans)}`);
process.exit(0);
