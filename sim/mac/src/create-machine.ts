import { join } from 'node:path';
import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';
import { createJournal } from './journal.ts';
import type { Machine, MacUser } from './machine.ts';
import type { Owners } from './userland/owners.ts';

/** Where `launchctl`, `sed` and the rest lie on a Mac, and what sshd makes of it: no /usr/local/bin. */
const pathOfSshd = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export interface MachineParts {
  readonly root: string;
  readonly clock: Clock;
  readonly pace: number;
  readonly user: MacUser;
  readonly faults: Faults;
  readonly owners: Owners;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  bootTime(): number;
}

export const createMachine = (parts: MachineParts): Machine => {
  const { root, clock, pace, user, faults, owners, bootTime } = parts;
  const path = (ofTheMac: string): string => join(root, ofTheMac);
  return {
    root,
    path,
    clock,
    pace: (milliseconds) => milliseconds * pace,
    user,
    faults,
    journal: createJournal(),
    bootTime,
    ownerOf: owners.ownerOf,
    environment: (who) => {
      const name = who === 'root' ? 'root' : user.name;
      return {
        ...parts.environment,
        TARTAN_ROOT: root,
        // The real user is the same for all. This is what `id`, `sudo` and the tools go by.
        TARTAN_SIM_UID: who === 'root' ? '0' : String(user.uid),
        // What must not outlive the simulator, if that is killed outright, looks for it by itself.
        TARTAN_SIM_PID: String(process.pid),
        PATH: pathOfSshd.map(path).join(':'),
        HOME: path(who === 'root' ? '/var/root' : `/Users/${user.name}`),
        USER: name,
        LOGNAME: name,
        SHELL: '/bin/sh',
        // Where mktemp goes; without it, it would leave this Mac's disk.
        TMPDIR: path(`/private/var/folders/zz/${name}/T`),
      };
    },
  };
};
