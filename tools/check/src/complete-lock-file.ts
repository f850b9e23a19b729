/** The fields of a package in a lock file that are used here. */
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

/** The platform of a package, from its name: `@biomejs/cli-linux-x64-musl`. */
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

/** Whether Node's module resolution finds `name` from `from`. */
const isListed = (packages: Record<string, Locked>, from: string, name: string): boolean => {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (Object.hasOwn(packages, `${at === '' ? '' : `${at}/`}node_modules/${name}`)) return true;
    if (at === '') return false;
  }
};

/**
 * If a registry lacks a tool's packages for other platforms, `npm install` omits them from the lock file, and `npm ci` refuses such a lock
 * file. This adds them: with the exact version that the tool requires, and without an integrity.
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
