const wireFormats = ['packages/api', 'packages/kube'];

/** A layer may import itself and the layers of its entry. */
const allowedImports: Record<string, readonly string[]> = {
  'packages/kube': [],
  'packages/api': ['packages/kube'],
  'packages/scaleway': wireFormats,
  'packages/host': wireFormats,
  'packages/tart': wireFormats,
  'packages/github': wireFormats,
  'packages/provider': ['packages/scaleway', 'packages/host', 'packages/tart', 'packages/github', ...wireFormats],
  'packages/tart-kubelet': ['packages/scaleway', 'packages/host', 'packages/tart', ...wireFormats],
  'packages/runners': ['packages/github', ...wireFormats],
  // Only `tartan up` starts simulators.
  'packages/cli': ['packages/*', 'sim/*'],
  // A simulator replaces an outside system. It may share the wire format, never the expectations of our controllers.
  'sim/kubernetes': ['packages/kube'],
  'sim/cluster-api': ['packages/kube'],
  'sim/linux-node': ['packages/kube'],
  'sim/scaleway': ['sim/mac', 'packages/kube'],
  'sim/mac': ['packages/kube'],
  'sim/github': ['packages/kube'],
  // Not a simulator but their user: a whole fleet of simulators and our own programs. In a checkout it builds these, and can start a real
  // Kubernetes.
  'sim/fleet': ['packages/*', 'sim/*', 'tools/build', 'tools/kubernetes'],
  'tools/build': [],
  'tools/check': [],
  'tools/generate': ['packages/*', 'sim/*', 'tools/kubernetes'],
  'tools/kubernetes': ['packages/kube'],
  'tools/runtime': [],
  test: ['packages/*', 'sim/*', 'tools/*'],
  bench: ['packages/*', 'sim/*', 'tools/*'],
};

/** The layer a file belongs to, by its path from the root. */
export const layerOf = (path: string): string | undefined => {
  const [first, second] = path.split('/');
  if (first === 'test' || first === 'bench') return first;
  const name = `${first}/${second}`;
  return first === 'packages' || first === 'sim' || first === 'tools' ? name : undefined;
};

/** `@tartan/sim-kubernetes/x` is `sim/kubernetes`, `@tartan/kube` is `packages/kube`. */
export const workspaceOf = (specifier: string): string | undefined => {
  const name = /^@tartan\/([^/]+)/.exec(specifier)?.[1];
  if (name === undefined) return undefined;
  const family = /^(sim|tools)-(.+)$/.exec(name);
  return family ? `${family[1]}/${family[2]}` : `packages/${name}`;
};

/** A layer that is not in the table may import nothing: add it to the table first. */
export const mayImport = (from: string, to: string): boolean =>
  (allowedImports[from] ?? []).some(
    (entry) => entry === to || (entry.endsWith('/*') && to.startsWith(entry.slice(0, -1))),
  );

/** Specifiers of static and dynamic imports, re-exports and require calls. */
export const importsOf = (source: string): string[] =>
  [...source.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)(['"])([^'"\n]+)\1/g)].map(
    (match) => match[2] ?? '',
  );
