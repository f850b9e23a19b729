import type { Machine, Tool } from '../machine.ts';
import { isDict, type PlistDict } from '../plist.ts';
import { readDict, writeDict } from './plist-file.ts';

const file = '/Library/Preferences/com.apple.PowerManagement.plist';

/** The defaults of a mini: it sleeps after one minute (INC-06). */
const factory: Readonly<Record<string, number>> = {
  sleep: 1,
  displaysleep: 10,
  disksleep: 10,
  womp: 1,
  autorestart: 0,
  powernap: 1,
  standby: 0,
  networkoversleep: 0,
  ttyskeepawake: 1,
  tcpkeepalive: 1,
  lowpowermode: 0,
};
const keys = new Set([
  ...Object.keys(factory),
  'ring',
  'lidwake',
  'acwake',
  'hibernatemode',
  'disablesleep',
  'powermode',
]);
const usage = "Usage: pmset <options>\nSee pmset(1) for details: 'man pmset'\n";

/** pmset(1): `-a k v …` is silent; `-g` and `-g custom` print a table. A mini has no battery: `-b` has no effect. */
export const createPmset = (machine: Machine): Tool => {
  const settings = (): PlistDict => {
    const stored = readDict(machine.path(file))?.['AC Power'];
    return { ...factory, ...(isDict(stored) ? stored : {}) };
  };
  const table = (): string =>
    Object.entries(settings())
      .map(([key, value]) => ` ${key.padEnd(20)} ${JSON.stringify(value)}\n`)
      .join('');

  return ({ args: [profile, ...words], asRoot }) => {
    if (profile === '-g') {
      if (words[0] === undefined || words[0] === 'live')
        return { code: 0, stdout: `System-wide power settings:\nCurrently in use:\n${table()}` };
      return words[0] === 'custom' ? { code: 0, stdout: `AC Power:\n${table()}` } : { code: 0, stdout: '' };
    }
    const isProfile = profile === '-a' || profile === '-c' || profile === '-b' || profile === '-u';
    const pairs = isProfile ? words : [profile ?? '', ...words];
    const changes: Record<string, number> = {};
    for (let at = 0; at < pairs.length; at += 2) {
      const key = pairs[at] ?? '';
      const value = Number(pairs[at + 1]);
      if (!keys.has(key) || !Number.isInteger(value) || value < 0) return { code: 64, stderr: usage };
      changes[key] = value;
    }
    if (pairs.length === 0) return { code: 64, stderr: usage };
    if (!asRoot) return { code: 77, stderr: "'pmset' must be run as root...\n" };
    if (profile === '-b' || profile === '-u') return { code: 0 };
    const stored = readDict(machine.path(file));
    const before = stored?.['AC Power'];
    const written = writeDict(machine, machine.path(file), {
      ...stored,
      'AC Power': { ...(isDict(before) ? before : {}), ...changes },
    });
    if (!written) return { code: 1, stderr: 'pmset: Error writing preferences to disk\n' };
    machine.journal.record(
      'pmset',
      Object.entries(changes)
        .map(([key, value]) => `${key} ${value}`)
        .join(' '),
    );
    return { code: 0 };
  };
};
