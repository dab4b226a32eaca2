/**
 * The attack's own name server, which the host's resolver asks: the last but one label of a name selects its answer.
 */
import { createSocket, type RemoteInfo } from "node:dgram";

/** Address and port of the name server: an entry of resolv.conf has no port, so the port is 53. */
export const nameServer = { address: "127.0.0.53", port: 53 } as const;

const questionOf = (packet: Buffer): { readonly name: string; readonly end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = packet[at] ?? 0; length > 0 && at < packet.length; length = packet[at] ?? 0) {
    labels.push(packet.subarray(at + 1, at + 1 + length).toString("latin1"));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 };
};

type Outcome = { readonly code: number; readonly addresses: readonly string[]; readonly afterMs: number };

const answered = (addresses: readonly string[], afterMs = 0): Outcome => ({ code: 0, addresses, afterMs });
const failed = (code: number): Outcome => ({ code, addresses: [], afterMs: 0 });

/** Outcomes by label, for the n-th question of a name; undefined: the server never answers. */
const outcomes: Readonly<Record<string, (nth: number) => Outcome | undefined>> = {
  never: () => undefined,
  slow: () => answered(["127.0.0.1"], 4_000),
  broken: () => failed(2),
  absent: () => failed(3),
  metadata: () => answered(["169.254.169.254"]),
  platform: () => answered(["168.63.129.16"]),
  private: () => answered(["10.0.0.1"]),
  loopback: () => answered(["127.0.0.1"]),
  unspecified: () => answered(["0.0.0.0"]),
  shared: () => answered(["100.64.0.1"]),
  unreachable: () => answered(["8.8.8.8"]),
  mixed: () => answered(["8.8.8.8", "127.0.0.1"]),
  rebinding: (nth) => answered([nth % 2 === 0 ? "8.8.8.8" : "127.0.0.1"]),
  many: () => answered(Array.from({ length: 25 }, (_, at) => `127.0.1.${at + 1}`)),
};

const reply = (packet: Buffer, end: number, { code, addresses }: Outcome): Buffer => {
  const head = Buffer.from(packet.subarray(0, 12));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const isFour = packet.readUInt16BE(end - 4) === 1;
  const records = (isFour ? addresses : []).map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]),
  );
  if (!isFour) head.writeUInt16BE(0, 6);
  return Buffer.concat([head, packet.subarray(12, end), ...records]);
};

/** Opens the name server, which serves until `close`. */
export const openNameServer = async (): Promise<{
  readonly asked: () => readonly string[];
  readonly close: () => void;
}> => {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  let open = true;
  const close = (): void => {
    open = false;
    socket.close();
  };
  const serve = (packet: Buffer, from: RemoteInfo): void => {
    const { name, end } = questionOf(packet);
    const nth = asked.filter((one) => one === name).length;
    asked.push(name);
    const outcome = (outcomes[name.split(".").at(-2) ?? ""] ?? (() => failed(3)))(nth);
    if (outcome === undefined) return;
    const answer = (): void => {
      if (open) socket.send(reply(packet, end, outcome), from.port, from.address);
    };
    setTimeout(answer, outcome.afterMs).unref();
  };
  socket.on("message", serve);
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(nameServer.port, nameServer.address, resolve);
  });
  return { asked: () => asked, close };
};
