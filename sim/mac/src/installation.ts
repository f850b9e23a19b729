import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installRoot } from './install-root.ts';
import type { MacUser } from './machine.ts';
import { replaceAtOnce } from './replace-file.ts';
import { type HostKey, hostKeyIn } from './ssh/host-key.ts';

/** What whoever installs a Mac tells it. */
interface Told {
  readonly password: string;
  readonly authorizedKeys: readonly string[];
}

/** The system on the disk of a Mac, and what goes with it: its user's password, the key of its sshd. All of it outlives the simulator. */
export interface Installation {
  readonly user: MacUser;
  hostKey(): HostKey;
  newHostKey(): void;
  setPassword(password: string): void;
  /** Empties the disk and installs a system on it. */
  install(told?: Partial<Told>): void;
}

export interface InstallationOptions {
  /** Of the disk, and of what belongs to the simulator. */
  readonly root: string;
  readonly hidden: string;
  readonly user: Omit<MacUser, 'password'>;
  readonly told: { readonly [K in keyof Told]: Told[K] | undefined };
  /** Nothing of the last system is left. */
  wiped(): void;
}

const readTold = (file: string): Partial<Told> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Told;
  } catch {
    // Never installed.
    return {};
  }
};

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A disk that has a system is taken as it is, with the password that it has; what is told then holds for the next system. */
export const openInstallation = ({ root, hidden, user, told, wiped }: InstallationOptions): Installation => {
  const toldFile = join(hidden, 'told.json');
  const hostKeyFile = join(hidden, 'host-key');
  const [last, next] = [`${root}.old`, `${root}.new`];
  const kept = readTold(toldFile);
  const isInstalled = existsSync(root);
  const given = isInstalled ? (kept.password ?? told.password) : (told.password ?? kept.password);
  const owner = { ...user, password: given ?? 'of the simulated Mac' };
  let authorizedKeys = told.authorizedKeys ?? kept.authorizedKeys ?? [];
  let hostKey: HostKey | undefined;

  const keep = (): void => {
    replaceAtOnce(toldFile, JSON.stringify({ password: owner.password, authorizedKeys } satisfies Told), 0o600);
  };
  const newHostKey = (): void => {
    rmSync(hostKeyFile, { force: true });
    hostKey = hostKeyIn(hostKeyFile);
  };

  const install = (fresh: Partial<Told> = {}): void => {
    authorizedKeys = fresh.authorizedKeys ?? authorizedKeys;
    owner.password = fresh.password ?? owner.password;
    remove(last);
    remove(next);
    // There is no system from here until the new one is whole: if this is killed in between, the next start installs one.
    if (existsSync(root)) renameSync(root, last);
    keep();
    wiped();
    newHostKey();
    mkdirSync(next);
    installRoot(next, owner, authorizedKeys, join(hidden, 'bin'));
    renameSync(next, root);
    remove(last);
  };

  if (isInstalled) {
    remove(last);
    keep();
  } else install();

  return {
    user: owner,
    hostKey: () => (hostKey ??= hostKeyIn(hostKeyFile)),
    newHostKey,
    setPassword: (password) => {
      owner.password = password;
      keep();
    },
    install,
  };
};
