/** Lines of a stream: split at line feeds only, and never longer than the limit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { linesOf } from "../../../../shared/adapters/kubernetes/https.ts";

async function* chunks(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const read = async (limit: number, ...texts: readonly string[]): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const line of linesOf(chunks(...texts), limit)) lines.push(line);
  return lines;
};

describe("the lines of a watch", () => {
  test("arrive whole, however they are cut into chunks", async () =>
    assert.deepEqual(await read(100, '{"a"', ":1}\n\n{", '"b":2}\nrest'), ['{"a":1}', '{"b":2}']));

  test("may each be as long as the limit, however many there are", async () =>
    assert.deepEqual(await read(4, "1234", "\n", "1234\n", "12", "34\n"), ["1234", "1234", "1234"]));

  test("end with an error when one exceeds the limit, so that memory never holds an endless line", async () => {
    let taken = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (; taken < 1_000; taken++) yield Buffer.alloc(1_024, "x");
    }
    const reading = async (): Promise<void> => {
      for await (const line of linesOf(endless(), 10_240)) assert.fail(line);
    };
    await assert.rejects(reading(), /longer than 10240 bytes/);
    assert.ok(taken <= 11, `${taken} kB were taken in`);
  });
});
