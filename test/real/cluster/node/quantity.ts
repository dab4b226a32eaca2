/** Kubernetes quantities as numbers, and back in units of a divisor. */

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

export const amount = (quantity: string | number): number => {
  const [, number = "", suffix = ""] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)(\D*)$/.exec(String(quantity)) ?? [];
  const factor = factors[suffix];
  if (number === "" || factor === undefined) throw new Error(`not a quantity: ${quantity}`);
  return Number(number) * factor;
};

/** Rounds up, as the downward API does. The small subtrahend removes the error of binary fractions. */
export const inUnits = (quantity: string | number, divisor: string): string =>
  String(Math.ceil(amount(quantity) / (amount(divisor) || 1) - 1e-9));
