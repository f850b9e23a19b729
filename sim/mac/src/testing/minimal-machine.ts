import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { testDeadline } from '@tartan/kube/testing';
import { noFaults } from '../faults.ts';
import type { Machine, ToolCall, ToolResult } from '../machine.ts';

export interface MinimalMachine extends Machine {
  /** Writes a file of the Mac, with its folders. */
  write(path: string, content: string | Buffer, mode?: number): void;
  /** The details of the journal's entries of one kind, in order. */
  journalOf(what: string): readonly string[];
  /** Resolves once the journal has that many entries of one kind; fails if that never happens. */
  waitForJournal(what: string, times?: number): Promise<void>;
  setPassword(password: string): void;
  /** Changes the owner of a file of the Mac. The default is root. */
  setOwner(path: string, user: string): void;
  remove(): void;
}

/** A Mac without SSH, shell and userland, for tests of one part. */
export const minimalMachine = ({
  clock = systemClock,
  pace = 0.01,
}: {
  clock?: Clock;
  pace?: number;
} = {}): MinimalMachine => {
  const root = mkdtempSync(join(tmpdir(), 'tartan-bare-machine-'));
  const path = (pathOnMac: string): string => join(root, pathOnMac);
  const entries: { what: string; detail: string }[] = [];
  const journalOf = (what: string): string[] =>
    entries.filter((entry) => entry.what === what).map(({ detail }) => detail);
  const recorded = new EventEmitter().setMaxListeners(0);
  const user = { name: 'm1', uid: 501, password: 'the true one' };
  const owners = new Map<string, string>();
  const bootTime = clock.now();
  return {
    root,
    path,
    clock,
    pace: (milliseconds) => milliseconds * pace,
    user,
    faults: noFaults(),
    journal: {
      entries,
      record: (what, detail = '') => {
        entries.push({ what, detail });
        recorded.emit('entry');
      },
    },
    bootTime: () => bootTime,
    ownerOf: (file) => ({ user: owners.get(file) ?? 'root', group: 'wheel' }),
    setOwner: (file, name) => owners.set(path(file), name),
    environment: (who) => ({
      TARTAN_ROOT: root,
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: path(who === 'root' ? '/var/root' : `/Users/${user.name}`),
    }),
    write: (file, content, mode = 0o644) => {
      mkdirSync(dirname(path(file)), { recursive: true });
      writeFileSync(path(file), content, { mode });
    },
    journalOf,
    waitForJournal: async (what, times = 1) => {
      const signal = testDeadline();
      while (journalOf(what).length < times) await once(recorded, 'entry', { signal });
    },
    setPassword: (password) => {
      user.password = password;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};

/** A call of a tool on that Mac, as root or, with `asRoot: false`, as the user. */
export const toolCall = (
  name: string,
  args: readonly string[],
  { asRoot = true, cwd = '/' }: { asRoot?: boolean; cwd?: string } = {},
): ToolCall => ({ name, args, cwd, asRoot, stdin: Buffer.alloc(0) });

/** Exit code and output, in one line for comparisons. */
export const resultText = ({ code, stdout = '', stderr = '' }: ToolResult): string =>
  `${code} ${`${stdout}${stderr}`.trimEnd().replaceAll('\n', ' / ')}`.trimEnd();
