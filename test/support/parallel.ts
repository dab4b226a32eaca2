/** Work on many items with a limited number at a time. */

/** Runs `act` for each item, `atOnce` at a time, in their order. Rejects when one does. */
export const each = async <T>(all: readonly T[], act: (one: T) => Promise<unknown>, atOnce = 16): Promise<void> => {
  const waiting = all.values();
  const worker = async (): Promise<void> => {
    for (const one of waiting) await act(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};
