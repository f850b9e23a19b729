/**
 * `@peculiar/x509` finds its signature algorithms through a container that needs decorator metadata, which JavaScript does not have. It
 * stores metadata only for its own few classes, so a map is enough. Import this file before the library.
 */
const metadata = new WeakMap<object, Map<unknown, unknown>>();

const ofTarget = (target: object): Map<unknown, unknown> => {
  const known = metadata.get(target) ?? new Map<unknown, unknown>();
  metadata.set(target, known);
  return known;
};

const inherited = (key: unknown, target: object | null): unknown => {
  if (target === null) return undefined;
  const own = metadata.get(target);
  return own?.has(key) ? own.get(key) : inherited(key, Object.getPrototypeOf(target) as object | null);
};

if (!('getMetadata' in Reflect)) {
  Object.assign(Reflect, {
    defineMetadata: (key: unknown, value: unknown, target: object) => void ofTarget(target).set(key, value),
    getOwnMetadata: (key: unknown, target: object) => metadata.get(target)?.get(key),
    getMetadata: inherited,
  });
}
