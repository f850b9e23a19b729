// @peculiar/x509 keeps its algorithms in a container (tsyringe) that refuses to load without the Reflect metadata polyfill, and then
// only ever asks it for metadata that nobody has set. Import this before that.
for (const name of ['getMetadata', 'getOwnMetadata']) {
  if (!(name in Reflect))
    Object.defineProperty(Reflect, name, { value: () => undefined, writable: true, configurable: true });
}
