/** Longer strings are rarely the same twice, and dear to compare. */
const longest = 256;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * Objects of one kind say the same things over and over: label values, reasons, image names. JSON.parse makes a string of each; this
 * makes them share one, in place. `pool` holds one of each and may be dropped afterwards.
 */
export const shareStrings = (value: unknown, pool: Map<string, string>): void => {
  if (!isRecord(value)) return;
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (typeof field !== 'string') {
      shareStrings(field, pool);
    } else if (field.length <= longest) {
      const shared = pool.get(field);
      if (shared === undefined) pool.set(field, field);
      else value[key] = shared;
    }
  }
};
