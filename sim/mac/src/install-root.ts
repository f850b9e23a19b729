import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MacUser } from './machine.ts';

// The folders of a fresh macOS that scripts may meet. No /usr/local/bin: scripts must create it.
const folders = [
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

// Stock /etc/pf.conf: hooks for everything below com.apple.
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

// Administrators may do everything, with their password; and everything in /etc/sudoers.d counts.
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

// Owned by whoever sits at the screen: see `userland/standard-owner.ts`.
const console = 'dev/console';

const files: readonly (readonly [path: string, text: string, mode: number])[] = [
  ['private/etc/pf.conf', pfConf, 0o644],
  ['private/etc/pf.anchors/com.apple', pfAnchorComApple, 0o644],
  ['private/etc/sudoers', sudoers, 0o440],
  ['private/etc/shells', shells, 0o644],
  ['private/etc/hosts', '127.0.0.1\tlocalhost\n255.255.255.255\tbroadcasthost\n::1\tlocalhost\n', 0o644],
  ['private/etc/newsyslog.conf', '', 0o644],
  [console, '', 0o622],
];

/** Makes the disk of a fresh macOS. `tools` is where the tools of this Mac really lie. */
export const installRoot = (root: string, user: MacUser, authorizedKeys: readonly string[], tools: string): void => {
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, 'private/etc/newsyslog.d'));
  chmodSync(join(root, 'private/tmp'), 0o1777);
  chmodSync(join(root, 'private/var/tmp'), 0o1777);
  for (const folder of ['etc', 'tmp', 'var']) symlinkSync(`private/${folder}`, join(root, folder));
  for (const folder of ['bin', 'sbin', 'usr/bin', 'usr/sbin']) {
    symlinkSync(relative(dirname(join(root, folder)), tools), join(root, folder));
  }
  for (const [path, text, mode] of files) writeFileSync(join(root, path), text, { mode });
  for (const name of ['root', user.name]) {
    mkdirSync(join(root, `private/var/folders/zz/${name}/T`), { recursive: true, mode: 0o700 });
  }
  const home = join(root, 'Users', user.name);
  mkdirSync(join(home, 'Library'), { recursive: true, mode: 0o750 });
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  // Scaleway's file of injected keys; sshd reads it beside authorized_keys.
  const keys = authorizedKeys.map((key) => `${key.trim()}\n`).join('');
  writeFileSync(join(home, '.ssh/scw_authorized_keys'), keys, { mode: 0o600 });
};

/** Sockets and process ids of the last boot: launchd empties the folder at each (`empty_dir(_PATH_VARRUN)`, launchctl.c of launchd-842). */
export const emptyRunFolder = (root: string): void => {
  rmSync(join(root, 'private/var/run'), { recursive: true, force: true });
  mkdirSync(join(root, 'private/var/run'), { recursive: true });
};
