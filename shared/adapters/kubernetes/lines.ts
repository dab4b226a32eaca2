/**
 * Splits a stream of bytes into lines at byte 0x0A only, so that no split chunk and no other line separator breaks a
 * JSON text.
 */

const newline = 0x0a;

/** The longest line, bytes: ten times the largest object that an API server stores. */
const longestBytes = 16 * 1_024 * 1_024;

/**
 * Yields whole lines, decoded one at a time, without empty ones and without a last part that has no newline. A line
 * longer than `limit` bytes throws an Error, so that a server that sends no newline cannot fill the memory.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, limit = longestBytes): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const part = chunk.subarray(from, end);
      const line = rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      held = 0;
      from = end + 1;
      if (line.length > 0) yield line.toString("utf8");
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > limit) throw new Error(`a line is longer than ${limit} bytes`);
  }
}
