import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MacUser } from './machine.ts';
import { replaceAtomically } from './replace-file.ts';
import { type HostKey, hostKeyIn } from './ssh/sshd.ts';

// The folders of a new macOS that scripts use. No /usr/local/bin: scripts must create it.
const rootFolders = [
  'Applications',
  'Library/LaunchAgents',
  'Library/LaunchDaemons',
  'Library/Preferences',
  'System/Library/LaunchDaemons',
  'Users/Shared',
  'Volumes',
  'dev',
  'private/etc/pf.anchors',
  'private/etc/sudoers.d',
  'private/tmp',
  'private/var/db',
  'private/var/folders',
  'private/var/log',
  'private/var/root',
  'private/var/run',
  'private/var/tmp',
  'usr/libexec',
  'usr/local',
];

// Stock /etc/pf.conf: anchors for everything below com.apple.
const pfConf = `#
# Default PF configuration file.
#
scrub-anchor "com.apple/*"
nat-anchor "com.apple/*"
rdr-anchor "com.apple/*"
dummynet-anchor "com.apple/*"
anchor "com.apple/*"
load anchor "com.apple" from "/etc/pf.anchors/com.apple"
`;

const pfAnchorComApple = `#
# com.apple ruleset, referred to by the default /etc/pf.conf file.
#
anchor "200.AirDrop/*"
anchor "250.ApplicationFirewall/*"
`;

// Administrators may do everything, with their password; all files in /etc/sudoers.d apply.
const sudoers = `Defaults env_reset
Defaults env_keep += "LANG LC_ALL TZ HOME MAIL"
root ALL=(ALL) ALL
%admin ALL=(ALL) ALL
@includedir /private/etc/sudoers.d
`;

const shells = `/bin/bash
/bin/csh
/bin/dash
/bin/ksh
/bin/sh
/bin/tcsh
/bin/zsh
`;

// Owned by the user of the console session: see `userland/owners.ts`.
const consoleDevice = 'dev/console';

const rootFiles: readonly (readonly [path: string, text: string, mode: number])[] = [
  ['private/etc/pf.conf', pfConf, 0o644],
  ['private/etc/pf.anchors/com.apple', pfAnchorComApple, 0o644],
  ['private/etc/sudoers', sudoers, 0o440],
  ['private/etc/shells', shells, 0o644],
  ['private/etc/hosts', '127.0.0.1\tlocalhost\n255.255.255.255\tbroadcasthost\n::1\tlocalhost\n', 0o644],
  ['private/etc/newsyslog.conf', '', 0o644],
  [consoleDevice, '', 0o622],
];

/** Creates the disk of a new macOS. `tools` is the real folder of this Mac's tools. */
const installRoot = (root: string, user: MacUser, authorizedKeys: readonly string[], tools: string): void => {
  for (const folder of rootFolders) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'private/etc/newsyslog.d'));
  chmodSync(join(root, 'private/tmp'), 0o1777);
  chmodSync(join(root, 'private/var/tmp'), 0o1777);
  for (const folder of ['etc', 'tmp', 'var']) symlinkSync(`private/${folder}`, join(root, folder));
  for (const folder of ['bin', 'sbin', 'usr/bin', 'usr/sbin']) {
    symlinkSync(relative(dirname(join(root, folder)), tools), join(root, folder));
  }
  for (const [path, text, mode] of rootFiles) writeFileSync(join(root, path), text, { mode });
  for (const name of ['root', user.name]) {
    mkdirSync(join(root, `private/var/folders/zz/${name}/T`), { recursive: true, mode: 0o700 });
  }
  const home = join(root, 'Users', user.name);
  mkdirSync(join(home, 'Library'), { recursive: true, mode: 0o750 });
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  // The file with the keys that Scaleway injects; sshd reads it in addition to authorized_keys.
  const keys = authorizedKeys.map((key) => `${key.trim()}\n`).join('');
  writeFileSync(join(home, '.ssh/scw_authorized_keys'), keys, { mode: 0o600 });
};

/** launchd empties this folder of sockets and pid files at each boot (`empty_dir(_PATH_VARRUN)`, launchctl.c of launchd-842). */
export const emptyRunFolder = (root: string): void => {
  rmSync(join(root, 'private/var/run'), { recursive: true, force: true });
  mkdirSync(join(root, 'private/var/run'), { recursive: true });
};

/** The settings of an installation. */
interface InstallSettings {
  readonly password: string;
  readonly authorizedKeys: readonly string[];
}

/** The system on the disk of a Mac, with its user's password and its host key. All of it survives the simulator. */
interface Installation {
  readonly user: MacUser;
  hostKey(): HostKey;
  newHostKey(): void;
  setPassword(password: string): void;
  /** Wipes the disk and installs a system. */
  install(settings?: Partial<InstallSettings>): void;
}

interface InstallationOptions {
  /** The folders of the disk, and of the simulator's own files. */
  readonly root: string;
  readonly hidden: string;
  readonly user: Omit<MacUser, 'password'>;
  readonly settings: { readonly [K in keyof InstallSettings]: InstallSettings[K] | undefined };
  /** Called when the last system is wiped. */
  onWiped(): void;
}

const readSettings = (file: string): Partial<InstallSettings> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as InstallSettings;
  } catch {
    // Never installed.
    return {};
  }
};

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** An existing system is used as it is, with its password; new settings apply to the next installation. */
export const openInstallation = ({ root, hidden, user, settings, onWiped }: InstallationOptions): Installation => {
  const settingsFile = join(hidden, 'install-settings.json');
  const hostKeyFile = join(hidden, 'host-key');
  const [last, next] = [`${root}.old`, `${root}.new`];
  const kept = readSettings(settingsFile);
  const isInstalled = existsSync(root);
  const given = isInstalled ? (kept.password ?? settings.password) : (settings.password ?? kept.password);
  const owner = { ...user, password: given ?? 'of the simulated Mac' };
  let authorizedKeys = settings.authorizedKeys ?? kept.authorizedKeys ?? [];
  let hostKey: HostKey | undefined;

  const save = (): void => {
    replaceAtomically(
      settingsFile,
      JSON.stringify({ password: owner.password, authorizedKeys } satisfies InstallSettings),
      0o600,
    );
  };
  const newHostKey = (): void => {
    rmSync(hostKeyFile, { force: true });
    hostKey = hostKeyIn(hostKeyFile);
  };

  const install = (fresh: Partial<InstallSettings> = {}): void => {
    authorizedKeys = fresh.authorizedKeys ?? authorizedKeys;
    owner.password = fresh.password ?? owner.password;
    remove(last);
    remove(next);
    // From here until the new system is complete there is none: if the process is killed in between, the next start installs one.
    if (existsSync(root)) renameSync(root, last);
    save();
    onWiped();
    newHostKey();
    mkdirSync(next);
    installRoot(next, owner, authorizedKeys, join(hidden, 'bin'));
    renameSync(next, root);
    remove(last);
  };

  if (isInstalled) {
    remove(last);
    save();
  } else install();

  return {
    user: owner,
    hostKey: () => (hostKey ??= hostKeyIn(hostKeyFile)),
    newHostKey,
    setPassword: (password) => {
      owner.password = password;
      save();
    },
    install,
  };
};
