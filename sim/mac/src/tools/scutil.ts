import { isDict, type PlistDict } from '../launchd/plist.ts';
import type { Machine, Tool } from '../machine.ts';
import { putDict, readDict } from './state-file.ts';

const file = '/Library/Preferences/SystemConfiguration/preferences.plist';
const names = ['HostName', 'LocalHostName', 'ComputerName'] as const;
type Name = (typeof names)[number];

/** As Setup Assistant leaves it. HostName is not set: then it follows DHCP. */
const factory: Partial<Record<Name, string>> = { LocalHostName: 'Mac-mini', ComputerName: 'Mac mini' };

/** One label of RFC 1034: no dot, no underscore, at most 63. */
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

const isName = (word: string | undefined): word is Name => names.some((name) => name === word);

/** The names of this Mac. */
export const hostNames = (machine: Machine): Partial<Record<Name, string>> => {
  const stored = readDict(machine.path(file))?.['Names'];
  const set = isDict(stored) ? stored : ({} as PlistDict);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = set[name] ?? factory[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
};

/** scutil(8): only its names. */
export const createScutil =
  (machine: Machine): Tool =>
  ({ args: [verb, name, value], asRoot }) => {
    if (verb === '--dns')
      return { code: 0, stdout: 'DNS configuration\n\nresolver #1\n  nameserver[0] : 198.51.100.53\n' };
    if ((verb !== '--get' && verb !== '--set') || !isName(name))
      return { code: 64, stderr: 'usage: scutil\n   or: scutil --get pref\n   or: scutil --set pref [newval]\n' };
    const current = hostNames(machine);
    if (verb === '--get') {
      const found = current[name];
      return found === undefined ? { code: 1, stderr: `${name}: not set\n` } : { code: 0, stdout: `${found}\n` };
    }
    if (value === undefined) return { code: 1, stderr: `${name}: no value on standard input\n` };
    if (name === 'LocalHostName' && !label.test(value))
      return { code: 1, stderr: 'SCPreferencesSetLocalHostName() failed: Invalid argument\n' };
    if (!asRoot) return { code: 1, stderr: 'SCPreferencesCommitChanges() failed: Permission denied\n' };
    const stored = readDict(machine.path(file));
    const written = putDict(machine, machine.path(file), { ...stored, Names: { ...current, [name]: value } });
    if (!written) return { code: 1, stderr: 'SCPreferencesCommitChanges() failed: No space left on device\n' };
    machine.journal.record('scutil', `${name} ${value}`);
    return { code: 0 };
  };
