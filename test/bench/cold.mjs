// A cold process: loads one built function, gives it its events one after the other, and prints what each took.
// Arguments: path of the bundle, events as JSON.
const [, , path, events] = process.argv;
process.argv = [process.argv[0], path, "--version"];
const began = performance.now();
const loaded = await import(path);
const spans = { importMs: performance.now() - began, eventMs: [], answers: [] };
for (const event of JSON.parse(events)) {
  const before = performance.now();
  spans.answers.push(await loaded.handler(event));
  spans.eventMs.push(performance.now() - before);
}
console.log(`\n${JSON.stringify(spans)}`);
process.exit(0);
