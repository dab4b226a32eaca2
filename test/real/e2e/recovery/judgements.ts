/** Compares an account of losses with the injected faults and the observations. Pure. */

/** The reason for a loss, and the exit code if it is known. */
export type Cause = { readonly reason: string; readonly exitCode?: number | undefined };

export type Loss = Cause & { readonly id: number };

export type Account = {
  /** The losses that Rekindle reports. */
  readonly losses: readonly Loss[];
  /** Events of losses, as stored in the API. */
  readonly events: readonly { readonly message: string; readonly count: number }[];
  /** Every executor that was seen, with its id; one entry per pod. */
  readonly seen: readonly { readonly pod: string; readonly id: number }[];
  /** The injected faults, by pod. */
  readonly done: ReadonlyMap<string, Cause>;
};

export const lossText = ({ id, reason, exitCode }: Loss): string =>
  `${id} ${reason}${exitCode === undefined ? "" : ` ${exitCode}`}`;

const repeated = (ids: readonly number[]): readonly number[] => [
  ...new Set(ids.filter((id, at) => ids.indexOf(id) !== at)),
];

const doneWrong = ({ losses, seen, done }: Account): readonly string[] =>
  [...done].flatMap(([pod, { reason, exitCode }]) => {
    const id = seen.find((one) => one.pod === pod)?.id;
    const loss = losses.find((one) => one.id === id);
    if (loss === undefined) return [`the loss of ${pod} (${reason}) is not recorded`];
    const other = loss.reason !== reason || (exitCode !== undefined && loss.exitCode !== exitCode);
    return other ? [`${pod} was lost by ${reason} ${exitCode ?? ""}, and is recorded as ${lossText(loss)}`] : [];
  });

const notDone = ({ losses, seen, done }: Account): readonly string[] => {
  const ids = new Set(seen.filter(({ pod }) => done.has(pod)).map(({ id }) => id));
  return losses.filter(({ id }) => !ids.has(id)).map((loss) => `nobody brought about ${lossText(loss)}`);
};

const toldWrong = ({ losses, events }: Account): readonly string[] => {
  const about = (id: number) => events.filter(({ message }) => message.startsWith(`Executor ${id} `));
  const counts = losses.map(({ id }) => ({ id, times: about(id).reduce((sum, { count }) => sum + count, 0) }));
  const others = events.length - losses.reduce((sum, { id }) => sum + about(id).length, 0);
  return [
    ...counts.filter(({ times }) => times !== 1).map(({ id, times }) => `the loss of ${id} was told ${times} times`),
    ...(others > 0 ? [`${others} events tell of losses that are not recorded`] : []),
  ];
};

/** Returns no wrongs if every loss was recorded once, reported once as an Event, and has the right reason. */
export const wrongsOf = (account: Account): readonly string[] => [
  ...repeated(account.seen.map(({ id }) => id)).map((id) => `two pods had the id ${id}`),
  ...repeated(account.losses.map(({ id }) => id)).map((id) => `the loss of ${id} is recorded twice`),
  ...doneWrong(account),
  ...notDone(account),
  ...toldWrong(account),
];
