/** Cuts a stream of bytes into lines at byte 0x0A only, so that no split chunk and no other line separator breaks a JSON text. */

const newline = 0x0a;

/** Whole lines of what arrives, decoded one at a time; empty ones are left out, and so is an end without its newline. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const part = chunk.subarray(from, end);
      const line = rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      from = end + 1;
      if (line.length > 0) yield line.toString("utf8");
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}
