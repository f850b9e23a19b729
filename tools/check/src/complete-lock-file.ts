/** One package in a lock file, as far as it matters here. */
export interface Locked {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

export interface LockFile {
  packages: Record<string, Locked>;
  [field: string]: unknown;
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** What a package for one platform is called tells which: `@biomejs/cli-linux-x64-musl`. */
export const platformOf = (name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> => {
  const words = (name.split('/').at(-1) ?? '').split('-');
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return {
    ...(os ? { os: [os] } : {}),
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(os === 'linux' && libc ? { libc: [libc] } : {}),
  };
};

/** Whether Node, looking from `from` upwards, finds `name`. */
const isListed = (packages: Record<string, Locked>, from: string, name: string): boolean => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (Object.hasOwn(packages, `${at === '' ? '' : `${at}/`}node_modules/${name}`)) return true;
    if (at === '') return false;
  }
};

/**
 * A registry that does not hold a tool's packages for other platforms makes `npm install` leave them out of the lock file, and `npm ci`
 * refuses a lock file that does not list them. This lists them: by the exact version that the tool asks for, without an integrity.
 */
export const withMissingPackages = (packages: Record<string, Locked>): LockFile & { missing: string[] } => {
  const missing: string[] = [];
  const all = { ...packages };
  for (const [path, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (isListed(all, path, name)) continue;
      missing.push(name);
      all[`node_modules/${name}`] = { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) };
    }
  }
  const sorted = Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { packages: Object.fromEntries(sorted), missing };
};
