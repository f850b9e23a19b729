// @peculiar/x509 keeps its algorithms in a container (tsyringe) that does not load without the Reflect metadata polyfill, but only
// reads metadata that is never set. Import this file first.
for (const name of ['getMetadata', 'getOwnMetadata']) {
  if (!(name in Reflect))
    Object.defineProperty(Reflect, name, { value: () => undefined, writable: true, configurable: true });
}
