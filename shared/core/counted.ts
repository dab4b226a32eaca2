/** A number with its noun, in the singular or the plural: `1 pod`, `2 pods`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
