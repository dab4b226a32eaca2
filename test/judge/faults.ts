/**
 * The faults, and where they strike: a point is a pattern and its occurrence within a namespace, as in `POST pods#1` (a
 * request), `pod Failed#1` (a report of a kubelet) or `user delete#1` (a step of the user).
 */

/** Faults of one answer strike one namespace; faults of the process and of its watches strike all that run beside. */
export const answerFaults = ["lost", "500", "429", "409", "504"] as const;
export const processFaults = ["kill-before", "kill-done", "kill-after"] as const;
/** SIGKILL to the process that sent the request, alone: of a program with several. */
export const senderFaults = ["sender-before", "sender-done", "sender-after"] as const;
export const watchFaults = ["hold", "cut", "gone", "stale"] as const;

const awaySeconds = [1, 10] as const;

/** `two`: a second instance of the controller runs beside the first from this point on. */
const kinds: readonly string[] = [...answerFaults, ...processFaults, ...senderFaults, ...watchFaults, "two"];

export type Fault = {
  /** As in names of cases: `lost`, `kill-after`, `kill-after-10s`, `hold`. */
  readonly kind: string;
  readonly awayMs: number;
  readonly pattern: string;
  readonly occurrence: number;
};

export const pointOf = ({ pattern, occurrence }: Fault): string => `${pattern}#${occurrence}`;
export const faultName = (fault: Fault): string =>
  `${fault.kind}${fault.awayMs > 1_000 ? `-${fault.awayMs / 1_000}s` : ""}/${pointOf(fault)}`;

export const isOfAnswer = ({ kind }: Fault): boolean => answerFaults.some((one) => one === kind);
export const isOfSender = ({ kind }: Fault): boolean => senderFaults.some((one) => one === kind);
/** True for a fault after which the process is away for a while. */
export const isOfProcess = ({ kind }: Fault): boolean => kind === "stale" || processFaults.some((one) => one === kind);

/** Reads `KIND[-10s]` and `PATTERN#N`; undefined if it names no fault. */
export const readFault = (name: string, point: string): Fault | undefined => {
  const [, kind = "", seconds = "1"] = /^(.*?)(?:-(\d+)s)?$/.exec(name) ?? [];
  const [, pattern, occurrence] = /^(.+)#(\d+)$/.exec(point) ?? [];
  if (!kinds.includes(kind) || pattern === undefined) return undefined;
  return { kind, awayMs: Number(seconds) * 1_000, pattern, occurrence: Number(occurrence) };
};

const isRequest = (pattern: string): boolean => /^(POST|PUT|PATCH|DELETE) /.test(pattern);

/** Answers can be wrong only at requests; a report and a user's step have no before and after. */
const kindsAt = (pattern: string): readonly { readonly kind: string; readonly awayMs: number }[] => {
  const once = (names: readonly string[]) => names.map((kind) => ({ kind, awayMs: 1_000 }));
  const away = (names: readonly string[]) =>
    names.flatMap((kind) => awaySeconds.map((seconds) => ({ kind, awayMs: seconds * 1_000 })));
  return isRequest(pattern)
    ? [...once(answerFaults), ...away(processFaults), ...once([...senderFaults, ...watchFaults, "two"])]
    : [...away(["kill-after"]), ...once(["hold", "cut", "gone"])];
};

/** All faults at the points that runs without fault passed; of each pattern the first occurrences. */
export const faultsAt = (counts: ReadonlyMap<string, number>, most: number): readonly Fault[] =>
  [...counts].flatMap(([pattern, count]) =>
    Array.from({ length: Math.min(count, most) }, (_, nth) =>
      kindsAt(pattern).map((one) => ({ ...one, pattern, occurrence: nth + 1 })),
    ).flat(),
  );
