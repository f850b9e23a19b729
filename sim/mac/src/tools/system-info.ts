import { createHash } from 'node:crypto';
import type { Machine, Tool } from '../machine.ts';
import { isDict, type PlistDict } from '../plist.ts';
import { readDict, writeDict } from './plist-file.ts';

const namesFile = '/Library/Preferences/SystemConfiguration/preferences.plist';
const nameKeys = ['HostName', 'LocalHostName', 'ComputerName'] as const;
type Name = (typeof nameKeys)[number];

/** As Setup Assistant sets them. HostName is not set: it follows DHCP. */
const factoryNames: Partial<Record<Name, string>> = { LocalHostName: 'Mac-mini', ComputerName: 'Mac mini' };

/** One label of RFC 1034: no dot, no underscore, at most 63. */
const hostLabel = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

const isName = (word: string | undefined): word is Name => nameKeys.some((name) => name === word);

/** The names of this Mac. */
export const hostNames = (machine: Machine): Partial<Record<Name, string>> => {
  const stored = readDict(machine.path(namesFile))?.['Names'];
  const set = isDict(stored) ? stored : ({} as PlistDict);
  return Object.fromEntries(
    nameKeys.flatMap((name) => {
      const value = set[name] ?? factoryNames[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
};

/** scutil(8): only the names. */
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
    if (name === 'LocalHostName' && !hostLabel.test(value))
      return { code: 1, stderr: 'SCPreferencesSetLocalHostName() failed: Invalid argument\n' };
    if (!asRoot) return { code: 1, stderr: 'SCPreferencesCommitChanges() failed: Permission denied\n' };
    const stored = readDict(machine.path(namesFile));
    const written = writeDict(machine, machine.path(namesFile), { ...stored, Names: { ...current, [name]: value } });
    if (!written) return { code: 1, stderr: 'SCPreferencesCommitChanges() failed: No space left on device\n' };
    machine.journal.record('scutil', `${name} ${value}`);
    return { code: 0 };
  };

const version = { ProductName: 'macOS', ProductVersion: '26.0', BuildVersion: '25A354' } as const;
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const cTime = (date: Date): string => {
  const clock = date.toISOString().slice(11, 19);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${weekdays[date.getUTCDay()] ?? ''} ${months[date.getUTCMonth()] ?? ''} ${day} ${clock} ${date.getUTCFullYear()}`;
};

/** `{ sec = N, usec = N } date`: changes with every boot. */
const bootTimeText = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1000);
  const micro = Math.floor((milliseconds - seconds * 1000) * 1000);
  return `{ sec = ${seconds}, usec = ${micro} } ${cTime(new Date(milliseconds))}`;
};

/** A new one per boot, in upper case. XNU generates it at random; here it is derived from the Mac and the boot. */
const bootSession = ({ root, bootTime }: Machine): string => uuidOf(`${root} ${bootTime()}`);

const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex').toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

/** sysctl(8) of an M4 mini, read-only. */
export const createSysctl =
  (machine: Machine): Tool =>
  ({ args }) => {
    const known: Readonly<Record<string, string>> = {
      'kern.bootsessionuuid': bootSession(machine),
      'kern.boottime': bootTimeText(machine.bootTime()),
      'kern.osproductversion': version.ProductVersion,
      'kern.osversion': version.BuildVersion,
      'kern.hostname': hostNames(machine).HostName ?? `${hostNames(machine).LocalHostName ?? 'Mac'}.local`,
      // XNU derives it from the memory; value of a mini with 16 GB (`sysctl kern.maxproc`).
      'kern.maxproc': '4000',
      // 1 normal, 2 warning, 4 critical (XNU, kern_memorystatus.c: the public values of `kVMPressureNormal` and so on).
      'kern.memorystatus_vm_pressure_level': '1',
      'hw.memsize': '17179869184',
      'hw.ncpu': '10',
      'hw.physicalcpu': '10',
      'hw.logicalcpu': '10',
      'hw.model': 'Mac16,10',
      'machdep.cpu.brand_string': 'Apple M4',
    };
    const bare = args.includes('-n');
    const asked = args.filter((argument) => !argument.startsWith('-'));
    if (asked.length === 0) return { code: 1, stderr: 'usage: sysctl [-bdehiNnoqx] name[=value] ...\n' };
    let code = 0;
    let stdout = '';
    let stderr = '';
    for (const name of asked) {
      const value = known[name];
      if (value === undefined) {
        code = 1;
        stderr += `sysctl: unknown oid '${name}'\n`;
      } else stdout += bare ? `${value}\n` : `${name}: ${value}\n`;
    }
    return { code, stdout, stderr };
  };

/** ioreg(8), for the entry that identifies a Mac: `IOPlatformUUID`, which a reinstall does not change. */
export const createIoreg =
  ({ root }: Machine): Tool =>
  ({ args }) =>
    args.includes('IOPlatformExpertDevice')
      ? {
          code: 0,
          stdout: `+-o J773gAP  <class IOPlatformExpertDevice, registered, matched, active>\n    {\n      "model" = <"Mac16,10">\n      "IOPlatformUUID" = "${uuidOf(root)}"\n    }\n\n`,
        }
      : { code: 0, stdout: '' };

export const swVers: Tool = ({ args: [flag] }) => {
  const name = flag?.replace(/^--?/, '').toLowerCase();
  const found = Object.entries(version).filter(([key]) => name === undefined || key.toLowerCase() === name);
  if (found.length === 0)
    return { code: 1, stderr: 'Usage: sw_vers [--productName|--productVersion|--buildVersion]\n' };
  return {
    code: 0,
    stdout: found.map(([key, value]) => (name === undefined ? `${key}:\t\t${value}\n` : `${value}\n`)).join(''),
  };
};

export const createHostname =
  (machine: Machine): Tool =>
  ({ args: [flag] }) => {
    const names = hostNames(machine);
    const full = names.HostName ?? `${names.LocalHostName ?? 'Mac'}.local`;
    return { code: 0, stdout: `${flag === '-s' ? (full.split('.')[0] ?? full) : full}\n` };
  };
